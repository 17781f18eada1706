// The product of a matrix of few rows and a large matrix: a step of a recurrent network.
//
// A product's library copies the large matrix into an order of its own first, which takes as long
// as half of the product when each of its numbers is used few times. Here it is read as it lies,
// once: a tile of the result, a few rows of two vectors each, stays in registers meanwhile.

#include <cstdint>

namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 16;    // numbers of a vector
constexpr int kMostRows = 12;  // of a tile: with two vectors each, 24 of 32 registers
#else
constexpr int kWidth = 8;
constexpr int kMostRows = 5;  // 10 of 16
#endif
constexpr int kColumns = 2 * kWidth;

typedef float Vector __attribute__((vector_size(kWidth * sizeof(float))));
typedef float VectorAnywhere __attribute__((vector_size(kWidth * sizeof(float)), aligned(4)));

struct Matrix {
    float* numbers;
    int64_t stride;  // from a row to the next
};

struct Product {
    Matrix few, large, result;
    int64_t rows, depth, columns;
};

inline Vector loaded(const float* numbers) {
    return *reinterpret_cast<const VectorAnywhere*>(numbers);
}

inline void store(float* numbers, Vector value) {
    *reinterpret_cast<VectorAnywhere*>(numbers) = value;
}

template <int kRows>
void compute_tile(const Product& product, int64_t row, int64_t column) {
    const float* few = product.few.numbers + row * product.few.stride;
    const float* large = product.large.numbers + column;
    Vector left[kRows] = {}, right[kRows] = {};
    for (int64_t k = 0; k < product.depth; ++k, large += product.large.stride) {
        const Vector first = loaded(large), second = loaded(large + kWidth);
#pragma GCC unroll 12
        for (int i = 0; i < kRows; ++i) {
            const float factor = few[i * product.few.stride + k];
            left[i] += factor * first;
            right[i] += factor * second;
        }
    }
    float* result = product.result.numbers + row * product.result.stride + column;
    for (int i = 0; i < kRows; ++i, result += product.result.stride) {
        store(result, left[i]);
        store(result + kWidth, right[i]);
    }
}

typedef void (*Tile)(const Product&, int64_t, int64_t);

const Tile kTiles[] = {
    nullptr,          compute_tile<1>, compute_tile<2>, compute_tile<3>,
    compute_tile<4>,  compute_tile<5>,
#if defined(__AVX512F__)
    compute_tile<6>,  compute_tile<7>, compute_tile<8>, compute_tile<9>,
    compute_tile<10>, compute_tile<11>, compute_tile<12>,
#endif
};

// All rows of some columns, in tiles of about the same height.
void compute_columns(const Product& product, int64_t column) {
    const int64_t tiles = (product.rows + kMostRows - 1) / kMostRows;
    for (int64_t i = 0, row = 0; i < tiles; ++i) {
        const int64_t end = product.rows * (i + 1) / tiles;
        kTiles[end - row](product, row, column);
        row = end;
    }
}

}  // namespace

// There are at least `kColumns` columns; the last ones may be computed twice.
extern "C" void multiply_thin(const Product* product, int32_t threads) {
    const int64_t whole = product->columns / kColumns;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < whole; ++i) {
        compute_columns(*product, i * kColumns);
        if (i == whole - 1 && product->columns % kColumns != 0) {
            compute_columns(*product, product->columns - kColumns);
        }
    }
}
