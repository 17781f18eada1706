// The cross entropies of rows of logits with one class each, and their gradients in the place of
// the logits: three passes over a row, which stays in the processor's cache meanwhile.

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 16;  // numbers of a vector
#else
constexpr int kWidth = 8;
#endif

typedef float Vector __attribute__((vector_size(kWidth * sizeof(float))));
typedef float VectorAnywhere __attribute__((vector_size(kWidth * sizeof(float)), aligned(4)));
typedef int32_t Integers __attribute__((vector_size(kWidth * sizeof(int32_t))));

inline Vector loaded(const float* numbers) {
    return *reinterpret_cast<const VectorAnywhere*>(numbers);
}

inline void store(float* numbers, Vector value) {
    *reinterpret_cast<VectorAnywhere*>(numbers) = value;
}

// e^x of x <= 0, right within two units of the last place; 0 where that would be denormal.
inline Vector exponential(Vector x) {
    constexpr float kLeast = -87.33654f;     // ln of the least normal number
    constexpr float kToInteger = 12582912;   // 1.5 * 2^23: what is added to it is rounded
    const Integers is_zero = x < kLeast;     // not of NaN, which goes through all of this
    const Vector from_least = is_zero ? Vector{} + kLeast : x;
    const Vector shifted = from_least * 1.44269504f + kToInteger;
    const Vector whole = shifted - kToInteger;
    const Vector rest = (from_least - whole * 0.693359375f) + whole * 2.12194440e-4f;
    Vector value = rest * 1.9875691500e-4f + 1.3981999507e-3f;
    value = value * rest + 8.3334519073e-3f;
    value = value * rest + 4.1665795894e-2f;
    value = value * rest + 1.6666665459e-1f;
    value = value * rest + 5.0000001201e-1f;
    value = value * rest * rest + rest + 1.0f;
    // 2^whole: the lowest bits of the shifted number are the exponent.
    const Integers exponent = (reinterpret_cast<const Integers&>(shifted) + 127) << 23;
    const Vector result = value * reinterpret_cast<const Vector&>(exponent);
    return is_zero ? Vector{} : result;
}

float largest(const float* row, int64_t size) {
    Vector most = Vector{} - std::numeric_limits<float>::infinity();
    int64_t i = 0;
    for (; i + kWidth <= size; i += kWidth) {
        const Vector next = loaded(row + i);
        most = next > most ? next : most;
    }
    float result = -std::numeric_limits<float>::infinity();
    for (int lane = 0; lane < kWidth; ++lane) result = most[lane] > result ? most[lane] : result;
    for (; i < size; ++i) result = row[i] > result ? row[i] : result;
    return result;
}

// Puts e^(x - most) in the place of each x; the sum of them.
float exponentials(float* row, int64_t size, float most) {
    Vector sum = {};
    int64_t i = 0;
    for (; i + kWidth <= size; i += kWidth) {
        const Vector value = exponential(loaded(row + i) - most);
        store(row + i, value);
        sum += value;
    }
    float result = 0;
    for (int lane = 0; lane < kWidth; ++lane) result += sum[lane];
    if (i < size) {
        Vector last = {};
        for (int lane = 0; lane < size - i; ++lane) last[lane] = row[i + lane] - most;
        last = exponential(last);
        for (int lane = 0; lane < size - i; ++lane) result += row[i + lane] = last[lane];
    }
    return result;
}

void scale(float* row, int64_t size, float factor) {
    int64_t i = 0;
    for (; i + kWidth <= size; i += kWidth) store(row + i, loaded(row + i) * factor);
    for (; i < size; ++i) row[i] *= factor;
}

}  // namespace

// All classes have been looked at: they are columns.
extern "C" void cross_entropies(
    float* logits, const int64_t* classes, float* losses, int64_t rows, int64_t columns,
    int32_t threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < rows; ++i) {
        float* row = logits + i * columns;
        const float most = largest(row, columns);
        const float of_class = row[classes[i]] - most;
        const float sum = exponentials(row, columns, most);
        scale(row, columns, 1 / sum);
        losses[i] = std::log(sum) - of_class;
        row[classes[i]] -= 1;
    }
}
