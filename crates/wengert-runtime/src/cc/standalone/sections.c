/* Operations on whole arrays: operands, shapes, and slices. What is computed in which order is part of what
   a program means; it is the same wherever programs run. */

typedef struct { int elem, rank; u64 word, count; const frame_u64 *shape; } operand;
/* A slice: where it starts, and per axis how many elements how far apart. */
typedef struct { i64 base; int rank; u64 count[8]; i64 step[8]; } section;
/* Its rows, one after another: elements that lie at one distance. */
typedef struct { i64 base; u64 count; i64 step; int outer; u64 at[8]; const section *of; } rows;

static u64 count_of(const frame_u64 *shape, int rank) {
  u64 n = 1;
  for (int k = 0; k < rank; k++) n *= shape[k];
  return n;
}

/* How many elements an array of that shape would have; ~0 where none has it. */
static u64 checked_count(const frame_u64 *shape, int rank) {
  u64 n = 1, none = 0;
  for (int k = 0; k < rank; k++) {
    if (shape[k] > (u64)INT64_MAX) return ~0ull;
    none |= shape[k] == 0;
  }
  for (int k = 0; !none && k < rank; k++)
    if (__builtin_mul_overflow(n, shape[k], &n) || n > (u64)INT64_MAX) return ~0ull;
  return none ? 0 : n;
}

static int same_shape(const frame_u64 *a, int a_rank, const frame_u64 *b, int b_rank) {
  int same = a_rank == b_rank;
  for (int k = 0; same && k < a_rank; k++) same = a[k] == b[k];
  return same;
}

static int no_room(run *r, const frame_u64 *shape, int rank) {
  r->status = WENGERT_MEMORY;
  r->bytes = 8;
  for (int k = 0; k < rank; k++)
    if (shape[k] && __builtin_mul_overflow(r->bytes, shape[k], &r->bytes)) r->bytes = ~0ull;
  return 1;
}

/* Refuses shapes that no memory holds. */
static int reserve(run *r, const frame_u64 *shape, int rank) {
  u64 n = checked_count(shape, rank), bytes;
  if (n == ~0ull || __builtin_mul_overflow(n, 8ull, &bytes) || bytes > (u64)INT64_MAX) return no_room(r, shape, rank);
  if (bytes >= 256ull << 20) {
    void *room = malloc(bytes);
    if (!room) return no_room(r, shape, rank);
    free(room);
  }
  return 0;
}

static int bad_index(run *r, i64 index, u64 len, int axis) {
  if (0 <= index && (u64)index < len) return 0;
  r->status = WENGERT_INDEX;
  r->index = index, r->length = (i64)len, r->axis = axis;
  return 1;
}

static int bad_length(run *r, i64 n) {
  if (n >= 0) return 0;
  r->status = WENGERT_LENGTH;
  r->index = n;
  return 1;
}

static void say_shape(run *r, const frame_u64 *shape, int rank) {
  SAY(r->shapes, "(");
  for (int k = 0; k < rank; k++) SAY(r->shapes, "%s%llu", k ? ", " : "", shape[k]);
  SAY(r->shapes, rank == 1 ? ",)" : ")");
}

/* `before` shape `between` shape `after`. */
static int bad_shapes(run *r, const char *before, const frame_u64 *a, int a_rank, const char *between, const frame_u64 *b, int b_rank) {
  r->status = WENGERT_SHAPE;
  SAY(r->shapes, "%s", before);
  say_shape(r, a, a_rank);
  SAY(r->shapes, "%s", between);
  say_shape(r, b, b_rank);
  return 1;
}

static int different(run *r, const char *name, const frame_u64 *a, int a_rank, const frame_u64 *b, int b_rank) {
  char before[100] = "";
  SAY(before, "`%s` of arrays with shapes ", name);
  return bad_shapes(r, before, a, a_rank, " and ", b, b_rank);
}

static void strides(const frame_u64 *shape, int rank, u64 *to) {
  u64 step = 1;
  for (int k = rank; k-- > 0; step *= shape[k]) to[k] = step;
}

/* `args` are start, count and step per axis; every element must exist. */
static int section_new(run *r, section *s, const operand *x, const operand *args) {
  u64 far[8], counts[8];
  strides(x->shape, x->rank, far);
  s->base = 0;
  s->rank = x->rank;
  for (int k = 0; k < x->rank; k++) {
    i64 start = (i64)args[3 * k].word, n = (i64)args[3 * k + 1].word, step = (i64)args[3 * k + 2].word, last;
    if (bad_length(r, n)) return 1;
    if (n > 0) {
      int axis = x->rank > 1 ? k : -1;
      if (__builtin_mul_overflow(n - 1, step, &last) || __builtin_add_overflow(last, start, &last))
        last = step < 0 ? INT64_MIN : INT64_MAX;
      if (bad_index(r, start, x->shape[k], axis) || bad_index(r, last, x->shape[k], axis)) return 1;
      s->base = (i64)((u64)s->base + (u64)start * far[k]);
    }
    s->count[k] = counts[k] = (u64)n;
    s->step[k] = (i64)((u64)step * far[k]);
  }
  return reserve(r, counts, x->rank);
}

static int section_repeats(const section *s) {
  int again = 0;
  for (int k = 0; k < s->rank; k++) {
    if (s->count[k] == 0) return 0;
    again |= s->count[k] > 1 && s->step[k] == 0;
  }
  return again;
}

/* The first row; 0 where there is none. */
static int rows_begin(rows *w, const section *s) {
  for (int k = 0; k < s->rank; k++)
    if (s->count[k] == 0) return 0;
  i64 next;
  *w = (rows){ .base = s->base, .count = 1, .step = 1, .outer = s->rank, .of = s };
  for (; w->outer > 0; w->outer--) {
    u64 n = s->count[w->outer - 1];
    i64 far = s->step[w->outer - 1];
    if (n == 1) continue;
    if (w->count > 1 && (__builtin_mul_overflow((i64)w->count, w->step, &next) || next != far)) break;
    if (w->count == 1) w->step = far;
    w->count *= n;
  }
  return 1;
}

static int rows_next(rows *w) {
  for (int k = w->outer; k-- > 0;) {
    if (++w->at[k] < w->of->count[k]) {
      w->base += w->of->step[k];
      return 1;
    }
    w->base -= (i64)(w->at[k] - 1) * w->of->step[k];
    w->at[k] = 0;
  }
  return 0;
}
