/* Partial attention of several MPI ranks, added up to the bits of one call: a datatype of saved states and an operation that
 * merges them, for MPI_Reduce, MPI_Allreduce and what else takes an operation, and messages of no more bytes than there are.
 *
 *   attend_mpi mpi;
 *   attend_mpi_open(&mpi, &problem);                       // its extents and state_nodes, the same ones on every rank
 *   ... attend_begin and attend_run: the keys of this rank, from a multiple of 512 on; without keys attend_begin alone
 *   attend_mpi_pack(&mpi, problem.states, packed);         // mpi.length bytes
 *   MPI_Allreduce(MPI_IN_PLACE, packed, 1, mpi.type, mpi.merge, comm);
 *   attend_status status = attend_mpi_unpack(&mpi, packed, problem.states);  // the same on every rank
 *   ... attend_finish
 *   attend_mpi_close(&mpi);
 *
 * An operation of MPI cannot return an error. What is refused on the way becomes a mark in the place of the states, which stays
 * one whatever it is merged with, so that every rank that has the result learns of it. */
#ifndef ATTEND_MPI_H
#define ATTEND_MPI_H

#include <attend/attend_c.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong with a message or an MPI call. */
typedef enum attend_mpi_error {
  ATTEND_MPI_OK = 0,
  ATTEND_MPI_REFUSED = 1, /* by the library: attend_mpi::status says why */
  ATTEND_MPI_SHORT = 2,   /* a message that ends before the states do */
  ATTEND_MPI_LONG = 3,    /* one of more bytes than states of these extents have; it was not received and can be probed again */
  ATTEND_MPI_FOREIGN = 4, /* one that is no saved states */
  ATTEND_MPI_MEMORY = 5,  /* there is no memory */
  ATTEND_MPI_FAILED = 6   /* a call of MPI, where the communicator's error handler returns: attend_mpi::failure is its code */
} attend_mpi_error;

/* Where a mark was made. The smaller of two marks stays. */
typedef enum attend_mpi_stage {
  ATTEND_MPI_NOWHERE = 0, /* there is no mark */
  ATTEND_MPI_BY_RANK = 1, /* a rank could not compute or save its states */
  ATTEND_MPI_LOADING = 2, /* states did not arrive as they were, or are of other extents */
  ATTEND_MPI_MERGING = 3  /* states took the same keys, or there is too little room (state_nodes) */
} attend_mpi_stage;

/* The bytes of a mark as a message. */
enum { ATTEND_MPI_MARK_BYTES = 16 };

/* Belongs to one thread at a time, with the collective calls that use its type: these use its memory. Not to be moved. */
typedef struct attend_mpi {
  MPI_Datatype type; /* packed states: `length` bytes, zeros behind what attend_save wrote */
  MPI_Op merge;      /* commutative and associative, to the bit */
  size_t length;     /* attend_saved_size of the problem */
  attend_status status;
  int failure;
  attend_problem problem; /* the rest is its own */
  void* states[2];
  unsigned char* message;
  int uses_keyval;
} attend_mpi;

/* After MPI_Init. state_nodes must be enough for what any order of merges has at once: where ranks have one stretch of keys
 * each, ranks * 2 * log2(segments of a rank) is, and so is the number of all segments. */
attend_mpi_error attend_mpi_open(attend_mpi* mpi, const attend_problem* problem);

/* Before MPI_Finalize. Also after an attend_mpi_open that failed. */
void attend_mpi_close(attend_mpi* mpi);

/* States as `length` bytes. A refusal makes a mark of it, so that a rank can always take part. */
attend_status attend_mpi_pack(attend_mpi* mpi, const void* states, void* packed);

/* A mark of what made this rank unable to compute: status is not ATTEND_OK. size: `length` of the mpi; or
 * ATTEND_MPI_MARK_BYTES, which is a message. */
void attend_mpi_mark(attend_status status, void* packed, size_t size);

/* States of packed bytes; of a mark its status, and the states stay as they are. */
attend_status attend_mpi_unpack(attend_mpi* mpi, const void* packed, void* states);

/* The status of a mark, and where it was made; ATTEND_OK of states. stage may be null. */
attend_status attend_mpi_refusal(const void* packed, attend_mpi_stage* stage);

/* States as one message of as many bytes as they have. States that cannot be saved are sent as a mark, and refused here. */
attend_mpi_error attend_mpi_send(attend_mpi* mpi, const void* states, int to, int tag, MPI_Comm comm);

/* The next such message. `status` may be MPI_STATUS_IGNORE. On an error the states stay as they are. */
attend_mpi_error attend_mpi_receive(attend_mpi* mpi, void* states, int from, int tag, MPI_Comm comm, MPI_Status* status);

/* The message that attend_mpi_send sends, for MPI_Isend and others: its bytes, of which `size` have room at `message`, at least
 * ATTEND_MPI_MARK_BYTES. mpi->status is not ATTEND_OK where it is a mark of states that cannot be saved. */
size_t attend_mpi_message(attend_mpi* mpi, const void* states, void* message, size_t size);

/* What attend_mpi_receive does with a message, for MPI_Irecv and others. On an error the states stay as they are. */
attend_mpi_error attend_mpi_read(attend_mpi* mpi, const void* message, size_t bytes, void* states);

/* The error as a sentence; never null. */
const char* attend_mpi_error_text(attend_mpi_error error);

#ifdef __cplusplus
}
#endif

#endif
