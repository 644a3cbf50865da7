// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operating system's answer to a request for tile registers, given by a
// filter of system calls in a child process: no AMX is needed.
#define _GNU_SOURCE
#include "test.h"

#include "attn-rt/attn.h"

#if defined(__linux__) && defined(__x86_64__)
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) fails with `error`, or
 * succeeds for 0; another request of it kills. */
static int answer(unsigned error) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x1023, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
               offsetof(struct seccomp_data, args) + sizeof(uint64_t)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 18, 1, 2),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL)};
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

enum { Granted, Refused, NoFilter, Inconsistent };

static int request_in_child(unsigned error) {
  pid_t child = fork();
  if (child == 0) {
    if (!answer(error))
      _exit(NoFilter);
    int first = attn_rt_request_tiles(), second = attn_rt_request_tiles();
    _exit(first != second ? Inconsistent : first == 0 ? Granted : Refused);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return -1;
  return WEXITSTATUS(status);
}

void test_tiles(void) {
  int granted = request_in_child(0), refused = request_in_child(EPERM);
  if (granted == NoFilter && refused == NoFilter) {
    printf("no filters of system calls here: tiles not tested\n");
    return;
  }
  CHECK(granted == Granted);
  CHECK(refused == Refused);
}
#else
void test_tiles(void) { CHECK(attn_rt_request_tiles() != 0); }
#endif
