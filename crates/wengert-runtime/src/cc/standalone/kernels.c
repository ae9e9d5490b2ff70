
/* ---- one operation ---- */

enum {
  FILL, BLANK, COPY, PEEK, POKE, SLICE, PUT, ADD_SLICE, RESHAPE, TRANSPOSE, EXPAND, SUM, SUM_AXIS, CUMSUM, DOT, GEMM,
  GATHER, SCATTER_ADD, ARGMAX, ARGMIN, ARGSORT, CONFORM_ROW, CONFORM_GEMM, CONFORM_SLICE, CONFORM_EXPAND, REFILL
};

/* The same for both kinds of float. */
#define BY_FLOAT(elem, f, x, ...) \
  do { if ((elem) == F32) f##_f32((float *)(x), __VA_ARGS__); else f##_f64((double *)(x), __VA_ARGS__); } while (0)

static void read_section(const section *s, int elem, u64 from, u64 to) {
  switch (elem) {
  case F64: read_f64(s, (const double *)from, (double *)to); break;
  case F32: read_f32(s, (const float *)from, (float *)to); break;
  case I64: read_i64(s, (const long *)from, (long *)to); break;
  default: read_bool(s, (const _Bool *)from, (_Bool *)to);
  }
}

static u64 load(int elem, u64 x, u64 k) {
  switch (elem) {
  case F64: return bits(((const double *)x)[k]);
  case F32: return bits32(((const float *)x)[k]);
  case I64: return (u64)((const long *)x)[k];
  default: return ((const _Bool *)x)[k];
  }
}

static void fill(int elem, u64 x, u64 n, u64 value) {
  switch (elem) {
  case F64: fill_f64((double *)x, n, real(value)); break;
  case F32: fill_f32((float *)x, n, real32((u32)value)); break;
  case I64: fill_i64((long *)x, n, (long)value); break;
  default: fill_bool((_Bool *)x, n, (u8)value != 0);
  }
}

/* A new array with the words of its place written. */
static int make(run *r, frame_u64 *out, int elem, const u64 *shape, int rank) {
  u64 n = checked_count(shape, rank);
  out[0] = n == ~0ull ? 0 : array_new(r, n, elem);
  for (int k = 0; k < rank; k++) out[1 + k] = shape[k];
  return out[0] ? 0 : no_room(r, shape, rank);
}

/* A shape given as integers. */
static int given_shape(run *r, const operand *args, int rank, u64 *shape) {
  for (int k = 0; k < rank; k++) {
    if (bad_length(r, (i64)args[k].word)) return 1;
    shape[k] = args[k].word;
  }
  return reserve(r, shape, rank);
}

static int bad_product(run *r, const operand *c, const operand *a, int ta, const operand *b, int tb) {
  const frame_u64 *sa = a->shape, *sb = b->shape, *sc = c->shape;
  u64 m = sa[0], inner = 1, other = 1, n = 1, rows = sc[0], columns = 1;
  if (a->rank == 2) {
    m = sa[ta], inner = sa[!ta];
    other = b->rank == 2 ? sb[tb] : sb[0];
    n = b->rank == 2 ? sb[!tb] : 1;
  } else n = sb[0];
  if (c->rank == 2) columns = sc[1];
  if (inner == other && rows == m && columns == n) return 0;
  /* As they stand in the product. */
  frame_u64 left[2] = {sa[ta], a->rank == 2 ? sa[!ta] : 1}, right[2] = {sb[tb], b->rank == 2 ? sb[!tb] : 1};
  bad_shapes(r, "the product of ", left, a->rank, " and ", right, b->rank);
  SAY(r->shapes, " does not fit ");
  say_shape(r, sc, c->rank);
  return 1;
}

static int bad_places(run *r, const operand *x, const operand *picked) {
  for (u64 k = 0; k < picked->count; k++)
    if (bad_index(r, ((const long *)picked->word)[k], x->shape[0], x->rank > 1 ? 0 : -1)) return 1;
  return 0;
}

static void sizes_around(const operand *x, int axis, u64 *outer, u64 *n, u64 *inner) {
  *outer = count_of(x->shape, axis);
  *n = x->shape[axis];
  *inner = count_of(x->shape + axis + 1, x->rank - axis - 1);
}

static int do_kernel(run *r, const kernel *k, const operand *args, int count, frame_u64 *out) {
  const operand *x = &args[0], *last = &args[count - 1];
  int elem = x->elem, rank = x->rank;
  u64 shape[9], far[8], outer, n, inner;
  section s;
  for (int j = 0; j < rank; j++) shape[j] = x->shape[j];
  switch (k->op) {
  case FILL: case BLANK:
    if (given_shape(r, args, count - 1, shape) || make(r, out, last->elem, shape, count - 1)) return 1;
    if (k->op == FILL) fill(last->elem, out[0], checked_count(shape, count - 1), last->word);
    return 0;
  case COPY: case RESHAPE: case CUMSUM:
    if (k->op == RESHAPE) {
      rank = count - 1;
      if (given_shape(r, args + 1, rank, shape)) return 1;
      if (checked_count(shape, rank) != x->count)
        return bad_shapes(r, "an array of shape ", x->shape, x->rank, " cannot become one of shape ", shape, rank);
    }
    if (make(r, out, elem, shape, rank)) return 1;
    memcpy((void *)out[0], (const void *)x->word, x->count * element_size[elem]);
    if (k->op == CUMSUM) {
      sizes_around(x, k->a, &outer, &n, &inner);
      BY_FLOAT(elem, cumsum, out[0], x->count, outer, n, inner, k->b);
    }
    return 0;
  case PEEK:
    if (bad_index(r, (i64)args[1].word, x->count, -1)) return 1;
    out[0] = load(elem, x->word, args[1].word);
    return 0;
  case POKE:
    if (bad_index(r, (i64)args[1].word, x->count, -1)) return 1;
    fill(elem, x->word + args[1].word * element_size[elem], 1, last->word);
    return 0;
  case REFILL: fill(elem, x->word, x->count, last->word); return 0;
  case SLICE:
    if (section_new(r, &s, x, args + 1) || make(r, out, elem, s.count, rank)) return 1;
    read_section(&s, elem, x->word, out[0]);
    return 0;
  case PUT: case ADD_SLICE:
    if (section_new(r, &s, x, args + 1)) return 1;
    if (!same_shape(s.count, rank, last->shape, last->rank))
      return bad_shapes(r, "a slice of shape ", s.count, rank, " cannot take an array of shape ", last->shape, last->rank);
    if (k->op == PUT && section_repeats(&s)) {
      r->status = WENGERT_SHAPE;
      SAY(r->shapes, "a slice with step 0 names one element several times: it cannot be written");
      return 1;
    }
    switch (elem) {
    case F64: (k->op == PUT ? put_f64 : add_f64)(&s, (double *)x->word, (const double *)last->word); break;
    case F32: (k->op == PUT ? put_f32 : add_f32)(&s, (float *)x->word, (const float *)last->word); break;
    case I64: put_i64(&s, (long *)x->word, (const long *)last->word); break;
    default: put_bool(&s, (_Bool *)x->word, (const _Bool *)last->word);
    }
    return 0;
  case TRANSPOSE: case EXPAND:
    strides(x->shape, rank, far);
    s.base = 0;
    s.rank = rank + (k->op == EXPAND);
    if (k->op == EXPAND && bad_length(r, (i64)args[1].word)) return 1;
    for (int j = 0; j < s.rank; j++) {
      int new = k->op == EXPAND && j == k->a;
      int from = k->op == TRANSPOSE ? k->axes[j] : j - (j > k->a);
      s.count[j] = new ? args[1].word : x->shape[from];
      s.step[j] = new ? 0 : (i64)far[from];
    }
    if ((k->op == EXPAND && reserve(r, s.count, s.rank)) || make(r, out, elem, s.count, s.rank)) return 1;
    read_section(&s, elem, x->word, out[0]);
    return 0;
  case SUM:
    out[0] = elem == F32 ? bits32(total_f32((const float *)x->word, 0, x->count)) : bits(total_f64((const double *)x->word, 0, x->count));
    return 0;
  case SUM_AXIS:
    sizes_around(x, k->a, &outer, &n, &inner);
    for (int j = k->a; j + 1 < rank; j++) shape[j] = shape[j + 1];
    if (reserve(r, shape, rank - 1) || make(r, out, elem, shape, rank - 1)) return 1;
    if (elem == F32) sum_axis_f32((const float *)x->word, (float *)out[0], outer, n, inner);
    else sum_axis_f64((const double *)x->word, (double *)out[0], outer, n, inner);
    return 0;
  case DOT:
    if (!same_shape(x->shape, rank, last->shape, last->rank)) return different(r, "dot", x->shape, rank, last->shape, last->rank);
    out[0] = elem == F32 ? bits32(total_f32((const float *)x->word, (const float *)last->word, x->count))
                         : bits(total_f64((const double *)x->word, (const double *)last->word, x->count));
    return 0;
  case GEMM: {
    const operand *a = &args[1], *b = &args[2];
    int ta = k->a, tb = k->b;
    if (bad_product(r, x, a, ta, b, tb)) return 1;
    u64 m = x->shape[0];
    if (elem == F32) {
      float *c = (float *)x->word;
      const float *p = (const float *)a->word, *q = (const float *)b->word;
      if (a->rank == 1) outer_f32(c, p, m, q, b->shape[0]);
      else if (b->rank == 2) product_f32(c, m, x->shape[1], a->shape[!ta], p, ta, q, tb);
      else (ta ? columns_f32 : rows_f32)(c, m, p, q, b->shape[0]);
    } else {
      double *c = (double *)x->word;
      const double *p = (const double *)a->word, *q = (const double *)b->word;
      if (a->rank == 1) outer_f64(c, p, m, q, b->shape[0]);
      else if (b->rank == 2) product_f64(c, m, x->shape[1], a->shape[!ta], p, ta, q, tb);
      else (ta ? columns_f64 : rows_f64)(c, m, p, q, b->shape[0]);
    }
    return 0;
  }
  case GATHER:
    if (bad_places(r, x, last)) return 1;
    n = count_of(x->shape + 1, rank - 1) * element_size[elem];
    shape[0] = last->count;
    if (reserve(r, shape, rank) || make(r, out, elem, shape, rank)) return 1;
    for (u64 j = 0; n && j < last->count; j++)
      memcpy((char *)out[0] + j * n, (const char *)x->word + (u64)((const long *)last->word)[j] * n, n);
    return 0;
  case SCATTER_ADD:
    shape[0] = args[1].count;
    if (!same_shape(shape, rank, last->shape, last->rank))
      return bad_shapes(r, "`scatter_add` of shape ", shape, rank, " cannot take an array of shape ", last->shape, last->rank);
    if (bad_places(r, x, &args[1])) return 1;
    n = count_of(x->shape + 1, rank - 1);
    if (elem == F32) scatter_f32((float *)x->word, (const long *)args[1].word, args[1].count, (const float *)last->word, n);
    else scatter_f64((double *)x->word, (const long *)args[1].word, args[1].count, (const double *)last->word, n);
    return 0;
  case ARGMAX: case ARGMIN:
    if (x->count == 0) {
      r->status = WENGERT_SHAPE;
      SAY(r->shapes, "`%s` of an array without elements", k->op == ARGMAX ? "argmax" : "argmin");
      return 1;
    }
    switch (elem) {
    case F64: out[0] = extreme_f64((const double *)x->word, x->count, k->op == ARGMAX); break;
    case F32: out[0] = extreme_f32((const float *)x->word, x->count, k->op == ARGMAX); break;
    case I64: out[0] = extreme_i64((const long *)x->word, x->count, k->op == ARGMAX); break;
    default: out[0] = extreme_bool((const _Bool *)x->word, x->count, k->op == ARGMAX);
    }
    return 0;
  case ARGSORT: {
    if (make(r, out, I64, shape, rank)) return 1;
    long *order = (long *)out[0], *spare = malloc(x->count ? x->count * sizeof *spare : 1);
    if (!spare) return no_room(r, shape, rank);
    for (u64 j = 0; j < x->count; j++) order[j] = (long)j;
    switch (elem) {
    case F64: sort_f64((const double *)x->word, order, spare, x->count); break;
    case F32: sort_f32((const float *)x->word, order, spare, x->count); break;
    case I64: sort_i64((const long *)x->word, order, spare, x->count); break;
    default: sort_bool((const _Bool *)x->word, order, spare, x->count);
    }
    free(spare);
    return 0;
  }
  case CONFORM_ROW:
    if (rank == 0) {
      u64 sizes[16];
      for (int j = 0; j < count && j < 16; j++) sizes[j] = args[j].rank ? 0 : args[j].word;
      int half = count / 2;
      if (same_shape(sizes, half, sizes + half, half)) return 0;
      return different(r, k->name, sizes, half, sizes + half, half);
    }
    for (int j = 1; j < count; j++)
      if (args[j].rank && !same_shape(x->shape, rank, args[j].shape, args[j].rank))
        return different(r, k->name, x->shape, rank, args[j].shape, args[j].rank);
    return 0;
  case CONFORM_GEMM: return bad_product(r, x, &args[1], 0, &args[2], 0);
  case CONFORM_SLICE: return section_new(r, &s, x, args + 1);
  case CONFORM_EXPAND: return bad_length(r, (i64)args[1].word);
  }
  return 0;
}

static u32 hook_kernel(u64 context, u64 number, u64 frame) {
  run *r = (run *)context;
  const kernel *k = &r->program->kernels[number];
  frame_u64 *words = (frame_u64 *)frame;
  operand args[32];
  for (int j = 0; j < k->count; j++) {
    int rank = k->args[j] / 4;
    args[j] = (operand){ k->args[j] % 4, rank, words[0], 0, words + 1 };
    if (rank) args[j].count = count_of(words + 1, rank);
    words += 1 + rank;
  }
  return (u32)do_kernel(r, k, args, k->count, words);
}

/* Products, dots and sums of doubles, whose shapes have been looked at. */
static void hook_rows(u64 c, u64 a, u64 b, u64 m, u64 k) {
  rows_f64((double *)c, m, (const double *)a, (const double *)b, k);
}
static void hook_columns(u64 c, u64 a, u64 b, u64 m, u64 k) {
  columns_f64((double *)c, m, (const double *)a, (const double *)b, k);
}
static void hook_many(u64 c, u64 a, u64 x, u64 m, u64 k, u64 n) {
  for (u64 t = 0; t < n; t++)
    for (u64 i = 0; i < m; i++)
      ((double *)c)[t * m + i] = total_f64((const double *)a + i * k, (const double *)x + t * k, k);
}
static void hook_add(u64 c, u64 x, u64 n) {
  for (u64 i = 0; i < n; i++) ((double *)c)[i] = ((double *)c)[i] + ((const double *)x)[i];
}
static double hook_dot(u64 x, u64 y, u64 n) { return total_f64((const double *)x, (const double *)y, n); }
static double hook_sum(u64 x, u64 n) { return total_f64((const double *)x, 0, n); }
