/* What programs need beside themselves: memory, tapes, outlined loops, and what is said when something
   fails. Nothing here is shared between calls but the text of the last error, of which every thread has its own. */

#ifndef WENGERT_MAX_ITERATIONS
#define WENGERT_MAX_ITERATIONS 1000000000ull /* of each `while` loop, before it is taken to be endless */
#endif
#if (defined(__unix__) || defined(__APPLE__)) && !defined(WENGERT_NO_MMAP)
#define WENGERT_MMAP 1
#include <sys/mman.h>
#include <unistd.h>
#ifdef MAP_NORESERVE
#define NORESERVE MAP_NORESERVE
#else
#define NORESERVE 0
#endif
#elif !defined(WENGERT_TAPE_BYTES)
#define WENGERT_TAPE_BYTES (256ull << 20) /* of one tape, allocated before the run */
#endif
#ifdef __FAST_MATH__
#error "compile this file without -ffast-math: it would give other numbers"
#endif

enum { F64, F32, I64, BOOL };
enum { EMPTY = 16 }; /* the address of arrays without elements */

typedef u32 entry_function(u64 context, u64 frame);
/* A part of the source: line 0 where no line of it is meant. */
typedef struct { u32 start, end, line; } place;
/* What can happen where; the loops around it, innermost first. */
typedef struct { u8 kind, status; signed char axis; place at; u32 first_loop, loops; const char *text; } site;
enum { SAID, INDEX, KERNEL, LENGTH, ITERATIONS, TAPE, MEMORY, CALL };
/* An operation on whole arrays; types are four times the rank and the kind of element. */
typedef struct { u8 op, a, b, count; const u8 *args, *axes; const char *name; } kernel;
typedef struct { entry_function *record, *reverse; } plan;
typedef struct { const site *sites; const place *loops; const kernel *kernels; const plan *plans; } program;

/* Entries of `1 + width` words by their first, which is not 0. */
typedef struct { u64 *words, room, used, width; } map;
typedef struct { u64 base, length, limit; } tape;

typedef struct run {
  void *word[CONTEXT_WORDS]; /* what compiled code reads and writes */
  const program *program;
  map arrays; /* every array of the run */
  map held;   /* the arrays that lie on tapes */
  tape *tapes;
  u64 open, tape_room, tape_bytes;
  void *counters[MOST_LOOPS + 1];
  i64 first; /* the site of the fault, or -1 */
  int status; /* what a kernel reports */
  i64 index, length;
  int axis;
  u64 bytes;
  char shapes[400];
  char trail[400];
} run;

static _Thread_local char error_text[1200];

static void say(char *to, u64 size, const char *format, ...) {
  u64 used = strlen(to);
  va_list args;
  va_start(args, format);
  if (used + 1 < size) vsnprintf(to + used, size - used, format, args);
  va_end(args);
}
#define SAY(to, ...) say(to, sizeof(to), __VA_ARGS__)

/* ---- tables ---- */

static u64 home(const map *m, u64 key) { return (key * 0x9e3779b97f4a7c15ull >> 20) & (m->room - 1); }

static u64 *entry_at(const map *m, u64 k) { return m->words + k * (1 + m->width); }

static u64 *map_find(const map *m, u64 key) {
  if (!m->room) return 0;
  for (u64 k = home(m, key);; k = (k + 1) & (m->room - 1)) {
    u64 *e = entry_at(m, k);
    if (e[0] == key) return e;
    if (!e[0]) return 0;
  }
}

static u64 *map_add(map *m, u64 key) {
  if (2 * (m->used + 1) > m->room) {
    map more = { 0, m->room ? 2 * m->room : 16, 0, m->width };
    more.words = calloc(more.room, 8 * (1 + m->width));
    if (!more.words) return 0;
    for (u64 k = 0; k < m->room; k++) {
      u64 *from = entry_at(m, k);
      if (from[0]) memcpy(map_add(&more, from[0]), from, 8 * (1 + m->width));
    }
    free(m->words);
    *m = more;
  }
  u64 k = home(m, key);
  while (entry_at(m, k)[0] && entry_at(m, k)[0] != key) k = (k + 1) & (m->room - 1);
  u64 *e = entry_at(m, k);
  m->used += !e[0];
  e[0] = key;
  return e;
}

static void map_remove(map *m, u64 *e) {
  u64 mask = m->room - 1, hole = (u64)(e - m->words) / (1 + m->width);
  for (u64 k = (hole + 1) & mask; entry_at(m, k)[0]; k = (k + 1) & mask)
    if (((k - home(m, entry_at(m, k)[0])) & mask) >= ((k - hole) & mask)) {
      memcpy(entry_at(m, hole), entry_at(m, k), 8 * (1 + m->width));
      hole = k;
    }
  entry_at(m, hole)[0] = 0;
  m->used--;
}

/* ---- arrays ---- */

static const u64 element_size[4] = { 8, 4, 8, 1 };

/* Room for elements, which the run frees at its end: 0 where there is none. */
static u64 array_new(run *r, u64 count, int elem) {
  u64 bytes;
  if (count == 0) return EMPTY;
  if (__builtin_mul_overflow(count, element_size[elem], &bytes) || bytes > (u64)INT64_MAX) return 0;
  void *made = malloc(bytes);
  if (!made) return 0;
  if (!map_add(&r->arrays, (u64)made)) { free(made); return 0; }
  return (u64)made;
}

static u64 array_copy(run *r, u64 from, u64 count, int elem) {
  u64 made = array_new(r, count, elem);
  if (made && count) memcpy((void *)made, (const void *)from, count * element_size[elem]);
  return made;
}

static u64 hook_fill(u64 context, u64 len, double value) {
  if ((i64)len < 0) return 0;
  u64 made = array_new((run *)context, len, F64);
  for (u64 k = 0; made && k < len; k++) ((double *)made)[k] = value;
  return made;
}

static u64 hook_blank(u64 context, u64 len) { return (i64)len < 0 ? 0 : array_new((run *)context, len, F64); }

static u64 hook_copy(u64 context, u64 from, u64 len) { return array_copy((run *)context, from, len, F64); }

static void hook_refill(u64 address, u64 len, double value) {
  for (u64 k = 0; k < len; k++) ((double *)address)[k] = value;
}

static void hook_free(u64 context, u64 address) {
  map *arrays = &((run *)context)->arrays;
  u64 *e = map_find(arrays, address);
  if (!e) return;
  map_remove(arrays, e);
  free((void *)address);
}

/* An array goes to the caller, who frees it. */
static void *hand_out(run *r, u64 address) {
  u64 *e = map_find(&r->arrays, address);
  if (!e) return 0;
  map_remove(&r->arrays, e);
  return (void *)address;
}

/* ---- tapes: addresses are reserved, the system gives memory where they are first used ---- */

#define TAPE_LEFT_OF(r) (r)->word[TAPE_LEFT]

static u64 tape_most(void) {
#ifdef WENGERT_TAPE_BYTES
  return WENGERT_TAPE_BYTES;
#else
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (u64)pages * (u64)size / 5 * 4 : 1ull << 62;
#endif
}

static u64 hook_new_tape(u64 context) {
  run *r = (run *)context;
  if (r->open == r->tape_room) {
    u64 room = 2 * r->tape_room + 4;
    tape *more = realloc(r->tapes, room * sizeof(tape));
    if (!more) return 0;
    r->tapes = more;
    r->tape_room = room;
  }
  tape t = { 0, 0, 0 };
  u64 wanted = r->tape_bytes ? r->tape_bytes : tape_most();
#ifdef WENGERT_MMAP
  for (t.length = 1ull << 40; t.length >= 1ull << 20; t.length /= 2) {
    void *map = mmap(0, t.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | NORESERVE, -1, 0);
    if (map == MAP_FAILED) continue;
    t.base = (u64)map;
#ifdef MADV_HUGEPAGE
    if (t.length > 2ull << 20) madvise((char *)map + (2 << 20), t.length - (2 << 20), MADV_HUGEPAGE);
#endif
    break;
  }
#else
  t.length = wanted + 64;
  t.base = (u64)malloc(t.length);
#endif
  if (!t.base) return 0;
  u64 bytes = wanted < t.length - 64 ? wanted : t.length - 64;
  t.limit = t.base + bytes;
  u64 left = (u64)TAPE_LEFT_OF(r);
  if (!r->tape_bytes) left = bytes;
  else left = left < r->tape_bytes - bytes ? 0 : left - (r->tape_bytes - bytes);
  TAPE_LEFT_OF(r) = (void *)left;
  r->tape_bytes = bytes;
  r->tapes[r->open++] = t;
  return t.base;
}

static void tape_close(const tape *t) {
#ifdef WENGERT_MMAP
  munmap((void *)t->base, t->length);
#else
  free((void *)t->base);
#endif
}

static tape *tape_find(run *r, u64 top) {
  for (u64 k = r->open; k-- > 0;)
    if (r->tapes[k].base <= top && top <= r->tapes[k].limit) return &r->tapes[k];
  return 0;
}

static u64 hook_tape_base(u64 context, u64 top) {
  tape *t = tape_find((run *)context, top);
  return t ? t->base : ~0ull / 2;
}

static void hook_note_tape(u64 context, u64 top) { (void)context, (void)top; }

static void hook_end_tape(u64 context, u64 top) {
  run *r = (run *)context;
  tape *t = tape_find(r, top);
  if (!t) return;
  TAPE_LEFT_OF(r) = (void *)((u64)TAPE_LEFT_OF(r) + (top - t->base));
  tape_close(t);
  memmove(t, t + 1, (u64)(r->tapes + --r->open - t) * sizeof(tape));
}

/* An array on a tape is handed out once, and only from the place it was pushed to. */
static void hook_hold_array(u64 context, u64 slot, u64 code) {
  u64 *e = map_add(&((run *)context)->held, slot);
  if (!e) return;
  e[1] = code;
  for (u64 k = 0; k < 1 + code / 4; k++) e[2 + k] = ((const u64 *)slot)[k];
}

static u32 hook_take_array(u64 context, u64 slot, u64 code) {
  map *held = &((run *)context)->held;
  u64 *e = map_find(held, slot);
  if (!e) return 0;
  u32 right = e[1] == code;
  for (u64 k = 0; right && k < 1 + code / 4; k++) ((u64 *)slot)[k] = e[2 + k];
  map_remove(held, e);
  return right;
}

/* ---- outlined loops: every iteration is recorded ---- */

static u32 hook_drive(u64 context, u64 number, u64 phase, u64 frame) {
  const plan *p = &((run *)context)->program->plans[number];
  return (phase == 0 ? p->record : p->reverse)(context, frame);
}

/* ---- what is said ---- */

static void hook_note_site(u64 context) {
  run *r = (run *)context;
  i64 number = (i64)r->word[SITE];
  const site *sites = r->program->sites, *s = &sites[number];
  if (r->first < 0) r->first = number;
  place at = sites[r->first].at;
  for (u32 k = 0; k < s->loops; k++) {
    place loop = r->program->loops[s->first_loop + k];
    /* A loop at the very place of the fault is what a compiler made of one instruction. */
    if (loop.start == at.start && loop.end == at.end) continue;
    SAY(r->trail, "%s iteration %lld of the loop", r->trail[0] ? ", in" : " (in", (i64)r->counters[k]);
    if (loop.line) SAY(r->trail, " on line %u", loop.line);
  }
}

/* The message of the fault that compiled code has reported, and its status. */
static int failed(run *r) {
  hook_note_site((u64)r);
  const site *s = &r->program->sites[r->first];
  i64 a = (i64)r->word[OPERANDS], b = (i64)r->word[OPERANDS + 1];
  int kind = s->kind, status = s->status, axis = s->axis;
  u64 bytes = (u64)a > ~0ull / 8 ? ~0ull : 8 * (u64)a;
  if (kind == KERNEL) {
    status = r->status;
    kind = status == WENGERT_INDEX ? INDEX : status == WENGERT_LENGTH ? LENGTH : status == WENGERT_MEMORY ? MEMORY : SAID;
    a = r->index, b = r->length, axis = r->axis, bytes = r->bytes;
  }
  error_text[0] = 0;
  SAY(error_text, "%s:", SOURCE_NAME);
  if (s->at.line) SAY(error_text, "%u:", s->at.line);
  SAY(error_text, " ");
  switch (kind) {
  case INDEX:
    SAY(error_text, "index %lld is out of range: %s has %lld element%s", a, s->text, b, b == 1 ? "" : "s");
    if (axis >= 0) SAY(error_text, " along axis %d", axis);
    break;
  case LENGTH: SAY(error_text, "an array cannot have %lld elements", a); break;
  case ITERATIONS:
    SAY(error_text, "the loop did not end within the limit of %llu iterations", (u64)WENGERT_MAX_ITERATIONS);
    break;
  case TAPE: SAY(error_text, "the tape needs more than the %llu bytes it may use", r->tape_bytes); break;
  case MEMORY:
    SAY(error_text, "there is not enough memory for an array of %s%llu bytes", bytes == ~0ull ? "at least " : "", bytes);
    break;
  default:
    if (s->kind == KERNEL) SAY(error_text, "shapes do not fit: %s", r->shapes);
    else SAY(error_text, "%s", s->text);
  }
  if (r->trail[0]) SAY(error_text, "%s)", r->trail);
  return status;
}

/* ---- a call from outside ---- */

static const u8 not_interrupted = 0;

/* Whether products and sums are fused by the compiler, which would change the numbers. */
static int contracts(void) {
  volatile double x = 0x1.0000000000001p0, y = 0x1.fffffffffffffp-1;
  double a = x, b = y, c = -(x * y);
  volatile double zero = a * b + c;
  return zero != 0;
}

static int begin(run *r, const program *p) {
  memset(r, 0, sizeof *r);
  r->program = p;
  r->first = -1;
  r->held.width = 10;
  r->word[INTERRUPT] = (void *)&not_interrupted;
  r->word[ROUNDS] = (void *)(WENGERT_MAX_ITERATIONS + 1ull);
  r->word[DEPTH] = (void *)1;
  r->word[COUNTERS] = (void *)r->counters;
  error_text[0] = 0;
  if (!contracts()) return 0;
  SAY(error_text, "%s: this library was compiled with fused products and sums: add -ffp-contract=off", SOURCE_NAME);
  return WENGERT_BUILD;
}

static int give_tape(run *r, frame_u64 *to) {
  u64 base = hook_new_tape((u64)r);
  *to = base;
  if (r->open == 1) {
    r->word[TAPE_BASE] = r->word[TAPE_PEAK] = (void *)base;
    r->word[TAPE_LIMIT] = (void *)r->tapes[0].limit;
  }
  if (base) return 0;
  SAY(error_text, "%s: there are no addresses left for a tape", SOURCE_NAME);
  return WENGERT_MEMORY;
}

/* An array of the caller's; one that the program writes into is copied. */
static int give_array(run *r, frame_u64 *to, const void *data, const char *name, int code, int copied, u32 units, const i64 *dims) {
  u64 count = 1, none = 0;
  int wrong = 0;
  for (int k = 0; k < code / 4; k++) {
    if ((units >> k & 1) && dims[k] != 1) {
      SAY(error_text, "%s: argument `%s` must have 1 element along axis %d: the library was written for such an array", SOURCE_NAME, name, k);
      return WENGERT_ARGUMENT;
    }
    if (dims[k] < 0) wrong = 1;
    none |= dims[k] == 0;
    to[1 + k] = (u64)dims[k];
  }
  for (int k = 0; !none && k < code / 4; k++)
    wrong |= __builtin_mul_overflow(count, (u64)dims[k], &count) || count > (u64)INT64_MAX;
  if (none) count = 0;
  if (wrong || (count && !data)) {
    SAY(error_text, "%s: argument `%s` %s", SOURCE_NAME, name, wrong ? "has dimensions that no array has" : "is a null pointer");
    return WENGERT_ARGUMENT;
  }
  to[0] = count == 0 ? EMPTY : copied ? array_copy(r, (u64)data, count, code % 4) : (u64)data;
  if (to[0]) return 0;
  SAY(error_text, "%s: there is not enough memory for a copy of argument `%s`", SOURCE_NAME, name);
  return WENGERT_MEMORY;
}

/* Rounding to nearest, subnormals kept, whatever the caller's thread has set. */
static u64 floats_set(u64 setting) {
#if defined(__x86_64__)
  u64 before = __builtin_ia32_stmxcsr() & ~0x3fu;
  if (before != setting) __builtin_ia32_ldmxcsr((u32)setting);
  return before;
#elif defined(__aarch64__)
  u64 before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  if (before != setting) __asm__ volatile("msr fpcr, %0" : : "r"(setting));
  return before;
#else
  return setting;
#endif
}

static int enter(run *r, entry_function *function, frame_u64 *frame) {
#if defined(__x86_64__)
  u64 before = floats_set(0x1f80);
#else
  u64 before = floats_set(0);
#endif
  u32 status = function((u64)r, (u64)frame);
  floats_set(before);
  return status ? failed(r) : 0;
}

/* A result that is a new array. */
static void give_back(run *r, const frame_u64 *from, int code, struct wengert_array *to) {
  memset(to, 0, sizeof *to);
  to->rank = code / 4;
  for (int k = 0; k < code / 4; k++) to->shape[k] = (i64)from[1 + k];
  to->data = from[0] == EMPTY ? 0 : hand_out(r, from[0]);
}

/* A result that goes where the caller has room for an array of that shape. */
static int put_back(const frame_u64 *from, int code, void *to, const frame_u64 *wanted) {
  u64 count = 1;
  for (int k = 0; k < code / 4; k++) {
    if (from[1 + k] != wanted[1 + k]) {
      SAY(error_text, "%s: a gradient has another shape than its argument", SOURCE_NAME);
      return WENGERT_SHAPE;
    }
    count *= from[1 + k];
  }
  if (count && !to) {
    SAY(error_text, "%s: the place for a gradient is a null pointer", SOURCE_NAME);
    return WENGERT_ARGUMENT;
  }
  if (count) memcpy(to, (const void *)from[0], count * element_size[code % 4]);
  return 0;
}

static void end(run *r) {
  for (u64 k = 0; k < r->arrays.room; k++) free((void *)entry_at(&r->arrays, k)[0]);
  for (u64 k = 0; k < r->open; k++) tape_close(&r->tapes[k]);
  free(r->arrays.words);
  free(r->held.words);
  free(r->tapes);
}
