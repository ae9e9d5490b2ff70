
/* ---- KIND: elements that are moved and compared ---- */

static void read_KIND(const section *s, const TYPE *x, TYPE *out) {
  rows w;
  if (!rows_begin(&w, s)) return;
  do {
    const TYPE *from = x + w.base;
    if (w.step == 1) memcpy(out, from, w.count * sizeof *x);
    else for (i64 k = 0; k < (i64)w.count; k++) out[k] = from[k * w.step];
    out += w.count;
  } while (rows_next(&w));
}

static void put_KIND(const section *s, TYPE *x, const TYPE *v) {
  rows w;
  if (!rows_begin(&w, s)) return;
  do {
    TYPE *to = x + w.base;
    for (i64 k = 0; k < (i64)w.count; k++) to[k * w.step] = v[k];
    v += w.count;
  } while (rows_next(&w));
}

static void fill_KIND(TYPE *x, u64 n, TYPE value) {
  for (u64 k = 0; k < n; k++) x[k] = value;
}

/* The place of the largest or smallest element, the first of equals; what is no number beats every number. */
static u64 extreme_KIND(const TYPE *x, u64 n, int largest) {
  u64 best = 0;
  for (u64 k = 1; k < n; k++) {
    TYPE a = x[k], b = x[best];
    if (b != b) break;
    if (a != a || (largest ? a > b : a < b)) best = k;
  }
  return best;
}

/* Sorts places by their elements, equals in order, what is no number last; `spare` has room for as many. */
static void sort_KIND(const TYPE *x, long *order, long *spare, u64 n) {
  for (u64 half = 1; half < n; half *= 2) {
    for (u64 from = 0; from < n; from += 2 * half) {
      u64 middle = from + half < n ? from + half : n, to = from + 2 * half < n ? from + 2 * half : n;
      u64 a = from, b = middle;
      for (u64 k = from; k < to; k++) {
        int right = a == middle;
        if (!right && b < to) {
          TYPE left = x[order[a]], other = x[order[b]];
          right = other < left || (left != left && other == other);
        }
        spare[k] = order[right ? b++ : a++];
      }
    }
    memcpy(order, spare, n * sizeof *order);
  }
}
