/* Which Attend this is; for C and C++.
 *
 * MAJOR changes when programs must change, MINOR when something is added, PATCH when something is mended. A program that was
 * compiled with one MINOR runs with the shared library of any later one.
 *
 * ATTEND_BITS_VERSION is apart from these: it changes when any result changes by any bit. Who stores results, or their digests,
 * or replays on one machine what another has computed, compares this number alone.
 */
#ifndef ATTEND_VERSION_H
#define ATTEND_VERSION_H

/* The version of the library, and of its bits. */
#define ATTEND_VERSION_MAJOR 1
#define ATTEND_VERSION_MINOR 0
#define ATTEND_VERSION_PATCH 0
#define ATTEND_BITS_VERSION 2

/* As one number, which grows with every version. */
#define ATTEND_VERSION (ATTEND_VERSION_MAJOR * 10000 + ATTEND_VERSION_MINOR * 100 + ATTEND_VERSION_PATCH)

#endif
