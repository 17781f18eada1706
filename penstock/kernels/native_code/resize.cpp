// One picture in another size, each of whose pixels lies between two rows and two columns.
//
// Two rows are mixed to a line that stays in the processor's cache, and a row of the result is
// mixed from there. Each number is rounded as ATen's functions in image_workspace.py round it.

#include <cmath>
#include <cstdint>

// An axis of the result: `size` first pixels, then as many second ones; the same for weights.
struct Axis {
    int64_t size;
    const int64_t* pixels;
    const float* weights;
};

struct Resizing {
    Axis rows, columns;
    int64_t channels;
    int64_t line_size;  // of the picture's lines, in numbers
    float* line;        // memory for one, and for a number more
};

namespace {

typedef float Four __attribute__((vector_size(16)));
typedef float FourAnywhere __attribute__((vector_size(16), aligned(4)));

inline float multiplied_and_added(float factor, float x, float y) { return std::fma(factor, x, y); }

inline Four multiplied_and_added(float factor, Four x, Four y) {
    for (int i = 0; i < 4; ++i) x[i] = std::fma(factor, x[i], y[i]);
    return x;
}

// torch.lerp
template <typename Numbers>
inline Numbers between(Numbers low, Numbers high, float nearer) {
    const bool is_low = std::fabs(nearer) < 0.5f;
    return multiplied_and_added(is_low ? nearer : nearer - 1.0f, high - low, is_low ? low : high);
}

// FBGEMM's weighted sum
inline float mixed(uint8_t low, uint8_t high, float low_weight, float high_weight) {
    return std::fma(high_weight, static_cast<float>(high), low_weight * static_cast<float>(low));
}

inline float mixed(float low, float high, float, float high_weight) {
    return between(low, high, high_weight);
}

template <typename Number>
void mix_rows(const Resizing& to, const Number* picture, int64_t row) {
    const Axis& rows = to.rows;
    const Number* low = picture + rows.pixels[row] * to.line_size;
    const Number* high = picture + rows.pixels[rows.size + row] * to.line_size;
    const float low_weight = rows.weights[row], high_weight = rows.weights[rows.size + row];
    float* const line = to.line;
    for (int64_t i = 0; i < to.line_size; ++i) line[i] = mixed(low[i], high[i], low_weight, high_weight);
}

void mix_columns(const Resizing& to, int64_t start, float* result) {
    const Axis& columns = to.columns;
    const int64_t channels = to.channels;
    for (int64_t x = start; x < columns.size; ++x) {
        const float* low = to.line + channels * columns.pixels[x];
        const float* high = to.line + channels * columns.pixels[columns.size + x];
        const float nearer = columns.weights[columns.size + x];
        for (int64_t c = 0; c < channels; ++c) result[channels * x + c] = between(low[c], high[c], nearer);
    }
}

// Three channels as vectors of four: the next pixel overwrites the fourth number.
void mix_colored_columns(const Resizing& to, float* result) {
    const Axis& columns = to.columns;
    const int64_t last = columns.size - 1;
    for (int64_t x = 0; x < last; ++x) {
        const Four low = *reinterpret_cast<const FourAnywhere*>(to.line + 3 * columns.pixels[x]);
        const Four high =
            *reinterpret_cast<const FourAnywhere*>(to.line + 3 * columns.pixels[columns.size + x]);
        const float nearer = columns.weights[columns.size + x];
        *reinterpret_cast<FourAnywhere*>(result + 3 * x) = between(low, high, nearer);
    }
    mix_columns(to, last, result);
}

template <typename Number>
void resize(const Resizing& to, const Number* picture, float* result) {
    for (int64_t row = 0; row < to.rows.size; ++row) {
        mix_rows(to, picture, row);
        if (to.channels == 3) {
            mix_colored_columns(to, result);
        } else {
            mix_columns(to, 0, result);
        }
        result += to.columns.size * to.channels;
    }
}

}  // namespace

extern "C" void resize_bytes(const Resizing* to, const uint8_t* picture, float* result) {
    resize(*to, picture, result);
}

extern "C" void resize_floats(const Resizing* to, const float* picture, float* result) {
    resize(*to, picture, result);
}
