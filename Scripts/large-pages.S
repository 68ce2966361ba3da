// Where the release build begins on x86-64 Linux (see Scripts/build-release): asks the kernel to keep the code of the
// program in pieces of 2 MB, before any of it but this is read, and goes on at the usual entry.
//
// A start of the program needs code in some 130 places, each of which costs a page fault, and 16 small pages to be
// mapped and unmapped. In large pieces these are 17 faults, as long as Linux has not cached small pages there already.
// That it has where the loader looks before: at the tables in front of the code, with all that is read ahead of them.
// So the code stands as far behind them as is read ahead at most, which is 8 MB on some machines. A kernel that knows no
// large pages refuses, which changes nothing.

#define MADVISE 28
#define MADV_HUGEPAGE 14
#define DISTANCE (12 << 20)

// The section that linkers put in front of all other code.
.section .text.unlikely.large_pages, "ax", @progbits
.globl large_pages_start
.type large_pages_start, @function
large_pages_start:
  mov %rdx, %r12 // What the loader wants to be called at the end is in rdx (System V ABI, AMD64, section 3.4.1).
  mov $MADVISE, %eax
  mov $__executable_start, %edi
  mov $etext, %esi
  sub %rdi, %rsi
  mov $MADV_HUGEPAGE, %edx
  syscall
  mov %r12, %rdx
  jmp _start
.size large_pages_start, . - large_pages_start
.skip DISTANCE

.section .note.GNU-stack, "", @progbits
