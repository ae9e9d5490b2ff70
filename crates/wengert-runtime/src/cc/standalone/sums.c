
/* ---- KIND: sums and products ---- */

static TYPE tree_KIND(const TYPE *l) {
  TYPE low = (l[0] + l[4]) + (l[2] + l[6]);
  TYPE high = (l[1] + l[5]) + (l[3] + l[7]);
  return low + high;
}

/* At most 1024 elements, in eight lanes that are added as a tree; `y` is 0 for a plain sum. */
static TYPE range_KIND(const TYPE *x, const TYPE *y, u64 n) {
  TYPE lane[8] = { 0, 0, 0, 0, 0, 0, 0, 0 };
  u64 k = 0;
  if (y) {
    for (; k + 8 <= n; k += 8)
      for (int j = 0; j < 8; j++) lane[j] = FUSED(x[k + j], y[k + j], lane[j]);
    for (int j = 0; k < n; k++, j++) lane[j] = FUSED(x[k], y[k], lane[j]);
  } else {
    for (; k + 8 <= n; k += 8)
      for (int j = 0; j < 8; j++) lane[j] = lane[j] + x[k + j];
    for (int j = 0; k < n; k++, j++) lane[j] = lane[j] + x[k];
  }
  return tree_KIND(lane);
}

/* The sum of elements, or of their products: ranges are added pairwise. */
static TYPE total_KIND(const TYPE *x, const TYPE *y, u64 n) {
  if (n <= 1024) return range_KIND(x, y, n);
  TYPE waiting[64], sum;
  int open = 0;
  u64 ranges = (n + 1023) / 1024;
  for (u64 k = 0; k < ranges; k++) {
    u64 from = 1024 * k, length = n - from < 1024 ? n - from : 1024;
    sum = range_KIND(x + from, y ? y + from : 0, length);
    for (u64 digits = k + 1; digits % 2 == 0; digits /= 2) sum = waiting[--open] + sum;
    waiting[open++] = sum;
  }
  sum = waiting[--open];
  while (open > 0) sum = waiting[--open] + sum;
  return sum;
}

static void add_KIND(const section *s, TYPE *x, const TYPE *v) {
  rows w;
  if (!rows_begin(&w, s)) return;
  do {
    TYPE *to = x + w.base;
    for (i64 k = 0; k < (i64)w.count; k++) to[k * w.step] = to[k * w.step] + v[k];
    v += w.count;
  } while (rows_next(&w));
}

/* Sums along an axis with `n` elements, `outer` before and `inner` after it. */
static void sum_axis_KIND(const TYPE *x, TYPE *out, u64 outer, u64 n, u64 inner) {
  for (u64 k = 0; k < outer * inner; k++) out[k] = 0;
  if (inner == 0) return;
  for (u64 o = 0; o < outer; o++)
    for (u64 k = 0; k < n; k++) {
      const TYPE *row = x + (o * n + k) * inner;
      TYPE *sums = out + o * inner;
      for (u64 j = 0; j < inner; j++) sums[j] = sums[j] + row[j];
    }
}

static void cumsum_KIND(TYPE *x, u64 count, u64 outer, u64 n, u64 inner, int back) {
  if (count == 0) return;
  for (u64 o = 0; o < outer; o++)
    for (u64 k = 1; k < n; k++) {
      TYPE *to = x + (o * n + (back ? n - 1 - k : k)) * inner;
      const TYPE *from = back ? to + inner : to - inner;
      for (u64 j = 0; j < inner; j++) to[j] = from[j] + to[j];
    }
}

static void scatter_KIND(TYPE *x, const long *picked, u64 n, const TYPE *v, u64 row) {
  for (u64 k = 0; k < n; k++)
    for (u64 j = 0; j < row; j++) x[(u64)picked[k] * row + j] = x[(u64)picked[k] * row + j] + v[k * row + j];
}

/* A matrix times a vector, added to `c`: one sum of products per row. */
static void rows_KIND(TYPE *c, u64 m, const TYPE *a, const TYPE *b, u64 k) {
  for (u64 i = 0; i < m; i++) c[i] = c[i] + total_KIND(a + i * k, b, k);
}

/* The transpose of a matrix times a vector, added to `c`: a chain per element. */
static void columns_KIND(TYPE *c, u64 m, const TYPE *a, const TYPE *b, u64 k) {
  for (u64 p = 0; p < k; p++)
    for (u64 i = 0; i < m; i++) c[i] = FUSED(a[p * m + i], b[p], c[i]);
}

static void outer_KIND(TYPE *c, const TYPE *a, u64 m, const TYPE *b, u64 n) {
  for (u64 i = 0; i < m; i++)
    for (u64 j = 0; j < n; j++) c[i * n + j] = FUSED(a[i], b[j], c[i * n + j]);
}

/* The product of `a` (m by k) and `b` (k by n), added to `c`: per element a chain of fused multiply-adds in
   index order. Parts of four rows and eight columns are kept in registers. */
static void product_KIND(TYPE *c, u64 m, u64 n, u64 k, const TYPE *a, int ta, const TYPE *b, int tb) {
  u64 a_row = ta ? 1 : k, a_column = ta ? m : 1, b_row = tb ? 1 : n, b_column = tb ? k : 1;
  TYPE right[256][8];
  for (u64 from = 0; from < k; from += 256) {
    u64 depth = k - from < 256 ? k - from : 256;
    for (u64 j = 0; j < n; j += 8) {
      u64 columns = n - j < 8 ? n - j : 8;
      for (u64 p = 0; p < depth; p++)
        for (u64 q = 0; q < 8; q++) right[p][q] = q < columns ? b[(from + p) * b_row + (j + q) * b_column] : 0;
      for (u64 i = 0; i < m; i += 4) {
        u64 lines = m - i < 4 ? m - i : 4;
        const TYPE *left[4];
        TYPE tile[4][8];
        for (u64 r = 0; r < 4; r++) {
          u64 line = i + (r < lines ? r : 0);
          left[r] = a + line * a_row + from * a_column;
          for (u64 q = 0; q < 8; q++) tile[r][q] = q < columns ? c[line * n + j + q] : 0;
        }
        for (u64 p = 0; p < depth; p++)
          for (int r = 0; r < 4; r++)
            for (int q = 0; q < 8; q++) tile[r][q] = FUSED(left[r][p * a_column], right[p][q], tile[r][q]);
        for (u64 r = 0; r < lines; r++)
          for (u64 q = 0; q < columns; q++) c[(i + r) * n + j + q] = tile[r][q];
      }
    }
  }
}
