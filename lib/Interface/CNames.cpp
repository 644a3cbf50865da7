// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A name of the C library would link and then replace the library's own
// function in the whole program; a keyword, a macro or a name of the header's
// own would give a header that does not compile.
#include "attn/Interface/CNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace attn;
using llvm::StringRef;

/// Of C11, C23 and C++20; those that begin with an underscore are no names
/// anyway.
static constexpr char keywords[] =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch "
    "char char16_t char32_t char8_t class co_await co_return co_yield compl "
    "concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast else enum explicit export extern "
    "false float for friend goto if inline int long mutable namespace "
    "new noexcept not not_eq nullptr operator or or_eq private protected "
    "public register reinterpret_cast requires restrict return short signed "
    "sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename typeof typeof_unqual "
    "union unsigned using virtual void volatile wchar_t while xor xor_eq";

/// Macros of the C library and of GNU compilers that someone may choose; and
/// those with parentheses, which spoil functions only.
static constexpr char macros[] =
    "I NULL EOF NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL BUFSIZ RAND_MAX "
    "M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI "
    "M_2_SQRTPI M_SQRT2 M_SQRT1_2 MAXFLOAT "
    "CHAR_BIT complex imaginary noreturn errno stdin stdout stderr linux unix "
    "i386";
static constexpr char functionMacros[] =
    "assert offsetof isnan isinf isfinite isnormal signbit fpclassify "
    "isgreater isgreaterequal isless islessequal islessgreater isunordered "
    "iscanonical issignaling issubnormal iszero va_start va_arg va_end va_copy "
    "major minor makedev unreachable";

/// Types of the header that every kernel's own part uses.
static constexpr char types[] =
    "size_t ptrdiff_t nullptr_t max_align_t int32_t int64_t attn_tensor "
    "attn_body attn_parallel_for attn_contiguous";

/// What a function cannot be called where other headers of C, POSIX or C++ are
/// included.
static constexpr char otherTypes[] =
    "ACTION DIR ENTRY FILE VISIT blkcnt_t blksize_t caddr_t clock_t clockid_t "
    "cnd_t datum dev_t div_t double_t fd_set femode_t fenv_t fexcept_t float_t "
    "fpos_t fsblkcnt_t fsfilcnt_t gid_t glob_t iconv_t id_t idtype_t imaxdiv_t "
    "in_addr_t in_port_t ino_t jmp_buf key_t ldiv_t lldiv_t locale_t loff_t "
    "mbstate_t mcontext_t mode_t mqd_t mtx_t nfds_t nl_catd nl_item nlink_t "
    "off_t once_flag pid_t pthread_attr_t pthread_barrier_t "
    "pthread_barrierattr_t pthread_cond_t pthread_condattr_t pthread_key_t "
    "pthread_mutex_t pthread_mutexattr_t pthread_once_t pthread_rwlock_t "
    "pthread_rwlockattr_t pthread_spinlock_t pthread_t quad_t regex_t "
    "regmatch_t regoff_t rlim_t sa_family_t sem_t sig_atomic_t sigjmp_buf "
    "siginfo_t sigset_t socklen_t speed_t ssize_t stack_t std suseconds_t "
    "tcflag_t thrd_start_t thrd_t time_t timer_t tss_dtor_t tss_t u_char u_int "
    "u_long u_short ucontext_t uid_t uint ulong useconds_t ushort va_list "
    "wctrans_t wctype_t wint_t wordexp_t";

/// The other members of the argument struct.
static constexpr char members[] = "size workspace workspace_size parallel_for "
                                  "parallel_context threads";

static constexpr char libraryNames[] =
#include "LibraryNames.inc"
    ;

static llvm::StringSet<> wordsOf(StringRef text) {
  llvm::StringSet<> words;
  while (!text.empty()) {
    size_t end = text.find_first_of(" \n");
    if (end != 0)
      words.insert(text.take_front(end));
    text = text.substr(end == StringRef::npos ? end : end + 1);
  }
  return words;
}

static bool isLibraryName(StringRef name) {
  static const llvm::StringSet<> words = wordsOf(libraryNames);
  return words.contains(name);
}

bool attn::isLinkedName(StringRef name) {
  return isLibraryName(name) || name.starts_with("attn_rt_");
}

/// Macros of <stdint.h>, which the header includes: INT8_MAX, UINT64_C, ..
static bool isStdintMacro(StringRef name) {
  for (StringRef suffix : {"_MIN", "_MAX", "_WIDTH", "_C"})
    if (name.ends_with(suffix)) {
      name = name.drop_back(suffix.size());
      return name.starts_with("INT") || name.starts_with("UINT") ||
             name == "SIZE" || name == "PTRDIFF" || name == "SIG_ATOMIC" ||
             name == "WCHAR" || name == "WINT";
    }
  return false;
}

/// What neither a function nor a member can be called.
static std::string whyNotIdentifier(StringRef name) {
  static const llvm::StringSet<> reserved = wordsOf(keywords),
                                 macro = wordsOf(macros), type = wordsOf(types);
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  if (name.empty() || llvm::isDigit(name.front()) ||
      !llvm::all_of(name, isWord))
    return "no C identifier";
  if (reserved.contains(name))
    return "a keyword of C or C++";
  if (macro.contains(name) || isStdintMacro(name))
    return "a macro of C's headers or compilers";
  if (type.contains(name) || name.starts_with("ATTN_"))
    return "a name of the header's own";
  return "";
}

std::string attn::whyNotEntryName(StringRef name) {
  static const llvm::StringSet<> macro = wordsOf(functionMacros),
                                 type = wordsOf(otherTypes);
  if (std::string why = whyNotIdentifier(name); !why.empty())
    return why;
  if (macro.contains(name))
    return "a macro of C's headers or compilers";
  if (name.starts_with("_"))
    return "kept for the C library, as every function that begins with an "
           "underscore";
  if (name == "attn_rt")
    return "the beginning of the runtime's names";
  // intN_t and its like, which <stdint.h> has without end.
  if (type.contains(name) ||
      (name.ends_with("_t") &&
       (name.starts_with("int") || name.starts_with("uint"))))
    return "kept for a type of the C library or C++";
  if (isLinkedName(name))
    return "a name of the C library, the linker or the runtime";
  for (CName which : cNames)
    if (std::string own = cName(name, which); isLibraryName(own))
      return "the beginning of '" + own + "', a function of the C library";
  return "";
}

std::string attn::whyNotPortName(StringRef name) {
  static const llvm::StringSet<> member = wordsOf(members);
  if (member.contains(name))
    return "a member that every argument struct has";
  if (name.starts_with("__") ||
      (name.size() > 1 && name[0] == '_' && llvm::isUpper(name[1])))
    return "kept for the C compiler";
  return whyNotIdentifier(name);
}

std::string attn::toPortName(StringRef text) {
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name = "_" + name;
  if (whyNotPortName(name).empty())
    return name;
  // Here no ending helps.
  if (name.front() == '_' || StringRef(name).starts_with("ATTN_"))
    name = "x" + name;
  while (!whyNotPortName(name).empty())
    name += '_';
  return name;
}

std::string attn::cName(StringRef entry, CName which) {
  static constexpr StringLiteral suffixes[] = {
      "",       "_workspace_size", "_strerror",    "_info",
      "_flops", "_args",           "_load_weights"};
  return (entry + suffixes[static_cast<size_t>(which)]).str();
}
