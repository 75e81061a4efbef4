#include "attend_mpi.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Saved states begin with words of 32 bits, the lowest byte first, of which these are read here; include/attend/core/saved.h
 * has all. Marks begin with another magic number, then the stage and the status. */
static const unsigned char saved_magic[4] = {'A', 't', 'S', 't'};
static const unsigned char mark_magic[4] = {'A', 't', 'M', 'k'};
enum { saved_words_at = 12, stage_at = 4, status_at = 8 };

static unsigned long word_at(const unsigned char* bytes) {
  return bytes[0] | (unsigned long)bytes[1] << 8 | (unsigned long)bytes[2] << 16 | (unsigned long)bytes[3] << 24;
}
static void put_word(unsigned char* bytes, unsigned long word) {
  int i;
  for (i = 0; i < 4; ++i) bytes[i] = (unsigned char)(word >> 8 * i);
}

static int is_mark(const void* packed) { return memcmp(packed, mark_magic, sizeof mark_magic) == 0; }

/* `length` bytes, of which those behind the mark are zeros. */
static void put_mark(void* packed, size_t length, attend_mpi_stage stage, attend_status status) {
  memset(packed, 0, length);
  memcpy(packed, mark_magic, sizeof mark_magic);
  put_word((unsigned char*)packed + stage_at, (unsigned long)stage);
  put_word((unsigned char*)packed + status_at, (unsigned long)status);
}

attend_status attend_mpi_refusal(const void* packed, attend_mpi_stage* stage) {
  const unsigned char* bytes = packed;
  const int mark = is_mark(packed);
  if (stage != NULL) *stage = mark ? (attend_mpi_stage)word_at(bytes + stage_at) : ATTEND_MPI_NOWHERE;
  return mark ? (attend_status)word_at(bytes + status_at) : ATTEND_OK;
}

static attend_problem with(const attend_mpi* mpi, const void* states) {
  attend_problem problem = mpi->problem;
  problem.states = (void*)states; /* attend_save only reads them */
  return problem;
}

/* Saves states, with zeros behind them up to `length`, or makes a mark. */
static attend_status save_or_mark(const attend_mpi* mpi, const void* states, void* packed, attend_mpi_stage stage) {
  const attend_problem problem = with(mpi, states);
  size_t saved = 0;
  const attend_status status = attend_save(&problem, packed, mpi->length, &saved);
  if (status == ATTEND_OK) {
    memset((unsigned char*)packed + saved, 0, mpi->length - saved);
  } else {
    put_mark(packed, mpi->length, stage, status);
  }
  return status;
}

/* ---- The operation ---- */

/* Loads what is no mark, and makes a mark of what cannot be loaded: in memory that only the caller writes. */
static void load_or_mark(const attend_mpi* mpi, const void* packed, void* states, unsigned char* mark) {
  if (is_mark(packed)) {
    memcpy(mark, packed, ATTEND_MPI_MARK_BYTES);
  } else {
    const attend_problem problem = with(mpi, states);
    const attend_status status = attend_load(&problem, packed, mpi->length);
    memset(mark, 0, ATTEND_MPI_MARK_BYTES);
    if (status != ATTEND_OK) put_mark(mark, ATTEND_MPI_MARK_BYTES, ATTEND_MPI_LOADING, status);
  }
}

static int comes_before(const unsigned char* mark, const unsigned char* other) {
  const unsigned long stage = word_at(mark + stage_at), other_stage = word_at(other + stage_at);
  if (stage != other_stage) return stage < other_stage;
  return word_at(mark + status_at) < word_at(other + status_at);
}

/* Both inputs are loaded even where one is a mark: so the smallest mark of all inputs stays, whichever way they meet. Marks of
 * merges, which are found where two inputs meet, are larger than those of inputs. */
static void merge_one(const attend_mpi* mpi, const void* in, void* inout) {
  unsigned char marks[2][ATTEND_MPI_MARK_BYTES];
  load_or_mark(mpi, in, mpi->states[0], marks[0]);
  load_or_mark(mpi, inout, mpi->states[1], marks[1]);
  if (is_mark(marks[0]) || is_mark(marks[1])) {
    const int first = !is_mark(marks[1]) || (is_mark(marks[0]) && comes_before(marks[0], marks[1]));
    memset(inout, 0, mpi->length);
    memcpy(inout, marks[first ? 0 : 1], ATTEND_MPI_MARK_BYTES);
  } else {
    const attend_problem problem = with(mpi, mpi->states[1]);
    const attend_status status = attend_merge(&problem, mpi->states[0]);
    if (status == ATTEND_OK) {
      save_or_mark(mpi, mpi->states[1], inout, ATTEND_MPI_MERGING);
    } else {
      put_mark(inout, mpi->length, ATTEND_MPI_MERGING, status);
    }
  }
}

/* MPI gives operations no pointer to what they need, so it is an attribute of the datatype. */
static int keyval = MPI_KEYVAL_INVALID, keyval_users = 0;

static void merge_all(void* in, void* inout, int* count, MPI_Datatype* type) {
  attend_mpi* mpi = NULL;
  int i, found = 0;
  if (MPI_Type_get_attr(*type, keyval, &mpi, &found) != MPI_SUCCESS || !found) MPI_Abort(MPI_COMM_WORLD, 1);
  for (i = 0; i < *count; ++i) {
    const size_t at = (size_t)i * mpi->length;
    merge_one(mpi, (const unsigned char*)in + at, (unsigned char*)inout + at);
  }
}

/* ---- Making it ---- */

static attend_mpi_error failed(attend_mpi* mpi, int code) {
  mpi->failure = code;
  return code == MPI_SUCCESS ? ATTEND_MPI_OK : ATTEND_MPI_FAILED;
}
static attend_mpi_error refused(attend_mpi* mpi, attend_status status) {
  mpi->status = status;
  return status == ATTEND_OK ? ATTEND_MPI_OK : ATTEND_MPI_REFUSED;
}

static int make_type(attend_mpi* mpi) {
  int code = MPI_SUCCESS;
  mpi->uses_keyval = 1;
  if (keyval_users++ == 0) code = MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL);
  if (code == MPI_SUCCESS) code = MPI_Type_contiguous((int)mpi->length, MPI_BYTE, &mpi->type);
  if (code == MPI_SUCCESS) code = MPI_Type_commit(&mpi->type);
  if (code == MPI_SUCCESS) code = MPI_Type_set_attr(mpi->type, keyval, mpi);
  if (code == MPI_SUCCESS) code = MPI_Op_create(merge_all, 1, &mpi->merge);
  return code;
}

attend_mpi_error attend_mpi_open(attend_mpi* mpi, const attend_problem* problem) {
  size_t size;
  attend_status status;
  memset(mpi, 0, sizeof *mpi);
  mpi->type = MPI_DATATYPE_NULL;
  mpi->merge = MPI_OP_NULL;
  mpi->problem = *problem;
  mpi->problem.first_key = 0;
  mpi->length = attend_saved_size(problem);
  size = attend_state_size(problem);
  if (mpi->length > INT_MAX || size == 0 || mpi->length == 0) {
    status = size == 0 ? attend_begin(problem) : ATTEND_TOO_LARGE | ATTEND_ARG_STATES << 8;
    return refused(mpi, status);
  }
  mpi->states[0] = malloc(size);
  mpi->states[1] = malloc(size);
  mpi->message = malloc(mpi->length);
  if (mpi->states[0] == NULL || mpi->states[1] == NULL || mpi->message == NULL) return ATTEND_MPI_MEMORY;
  return failed(mpi, make_type(mpi));
}

void attend_mpi_close(attend_mpi* mpi) {
  if (mpi->type != MPI_DATATYPE_NULL) MPI_Type_free(&mpi->type);
  if (mpi->merge != MPI_OP_NULL) MPI_Op_free(&mpi->merge);
  if (mpi->uses_keyval && --keyval_users == 0) MPI_Type_free_keyval(&keyval);
  mpi->uses_keyval = 0;
  free(mpi->states[0]);
  free(mpi->states[1]);
  free(mpi->message);
  mpi->states[0] = mpi->states[1] = mpi->message = NULL;
}

attend_status attend_mpi_pack(attend_mpi* mpi, const void* states, void* packed) {
  return mpi->status = save_or_mark(mpi, states, packed, ATTEND_MPI_BY_RANK);
}

void attend_mpi_mark(attend_status status, void* packed, size_t size) { put_mark(packed, size, ATTEND_MPI_BY_RANK, status); }

attend_status attend_mpi_unpack(attend_mpi* mpi, const void* packed, void* states) {
  const attend_problem problem = with(mpi, states);
  mpi->status = attend_mpi_refusal(packed, NULL);
  if (!is_mark(packed)) mpi->status = attend_load(&problem, packed, mpi->length);
  return mpi->status;
}

/* ---- Messages ---- */

size_t attend_mpi_message(attend_mpi* mpi, const void* states, void* message, size_t size) {
  const attend_problem problem = with(mpi, states);
  size_t saved = 0;
  mpi->status = attend_save(&problem, message, size, &saved);
  if (mpi->status == ATTEND_OK) return saved;
  attend_mpi_mark(mpi->status, message, ATTEND_MPI_MARK_BYTES);
  return ATTEND_MPI_MARK_BYTES;
}

attend_mpi_error attend_mpi_read(attend_mpi* mpi, const void* message, size_t bytes, void* states) {
  const attend_problem problem = with(mpi, states);
  if (bytes >= ATTEND_MPI_MARK_BYTES && is_mark(message)) return refused(mpi, attend_mpi_refusal(message, NULL));
  if (memcmp(message, saved_magic, bytes < sizeof saved_magic ? bytes : sizeof saved_magic) != 0) return ATTEND_MPI_FOREIGN;
  if (bytes < ATTEND_MPI_MARK_BYTES || bytes / 4 < word_at((const unsigned char*)message + saved_words_at))
    return ATTEND_MPI_SHORT;
  return refused(mpi, attend_load(&problem, message, bytes));
}

attend_mpi_error attend_mpi_send(attend_mpi* mpi, const void* states, int to, int tag, MPI_Comm comm) {
  const size_t bytes = attend_mpi_message(mpi, states, mpi->message, mpi->length);
  const int code = MPI_Send(mpi->message, (int)bytes, MPI_BYTE, to, tag, comm);
  return code == MPI_SUCCESS ? refused(mpi, mpi->status) : failed(mpi, code);
}

attend_mpi_error attend_mpi_receive(attend_mpi* mpi, void* states, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Status probed;
  int count = 0, code = MPI_Probe(from, tag, comm, &probed);
  if (code == MPI_SUCCESS) code = MPI_Get_count(&probed, MPI_BYTE, &count);
  if (code != MPI_SUCCESS) return failed(mpi, code);
  if (status != MPI_STATUS_IGNORE) *status = probed;
  if (count == MPI_UNDEFINED || (size_t)count > mpi->length) return ATTEND_MPI_LONG;
  code = MPI_Recv(mpi->message, count, MPI_BYTE, probed.MPI_SOURCE, probed.MPI_TAG, comm, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return failed(mpi, code);
  return attend_mpi_read(mpi, mpi->message, (size_t)count, states);
}

const char* attend_mpi_error_text(attend_mpi_error error) {
  switch (error) {
    case ATTEND_MPI_OK:
      return "nothing is wrong";
    case ATTEND_MPI_REFUSED:
      return "the library has refused the states: attend_error_text(mpi.status) says why";
    case ATTEND_MPI_SHORT:
      return "the message ends before its states do";
    case ATTEND_MPI_LONG:
      return "the message is longer than states of these extents; it was not received";
    case ATTEND_MPI_FOREIGN:
      return "the message is no saved states";
    case ATTEND_MPI_MEMORY:
      return "there is no memory for states";
    case ATTEND_MPI_FAILED:
      return "a call of MPI failed: MPI_Error_string(mpi.failure) says why";
  }
  return "there is no such error";
}
