#!/usr/bin/env bash
# Gets Chromium and its driver from Debian's packages, for the test that opens TensorBoard in them.
# Where that can't be done it says so and succeeds: the test is then skipped.
set -u

if command -v chromedriver >/dev/null; then
    exit 0
fi

skipped() {
    echo "The test that opens TensorBoard in Chromium will be skipped: $1" >&2
    exit 0
}

[ "$(id -u)" = 0 ] || skipped "only root can install chromium and chromium-driver."
command -v apt-get >/dev/null || skipped "there is no apt-get to install chromium with."

quietly() {
    # A network that does not answer must not hold up the tests.
    DEBIAN_FRONTEND=noninteractive timeout 240 \
        apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@" >/dev/null
}

echo "Installing chromium and chromium-driver with apt-get."
quietly update || skipped "apt-get could not read its lists."
quietly install -y --no-install-recommends chromium chromium-driver \
    || skipped "apt-get could not install chromium and chromium-driver."
