public import CacheBase

/// The calls of the system that start a program and wait for its end.
public enum Spawning {
  /// A call that failed, with its error number.
  public struct Failure: Error {
    /// The number.
    public let number: Int32
  }

  /// Starts the program that `arguments` begin with in `folder`, with all signals as a shell would have them, and
  /// nothing to read on stdin. It inherits `descriptors`, and the open descriptors without the flag close-on-exec.
  ///
  /// - Throws: `Failure`.
  public static func start(
    _ arguments: [String], variables: [String], folder: String, output: String, errors: String,
    keeping descriptors: [Int32] = []
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    for (stream, file) in [(STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
      posix_spawn_file_actions_addopen(&actions, stream, file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    // A descriptor that is copied to its own number is not closed on exec any more.
    for number in descriptors { posix_spawn_file_actions_adddup2(&actions, number, number) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var defaults = none
    for signal in [SIGHUP, SIGINT, SIGTERM, SIGPIPE] { sigaddset(&defaults, signal) }
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var identifier: pid_t = 0
    // The folder is entered by env(1): its call is an extension that Swift does not see.
    let number = withStrings(["/usr/bin/env", "--chdir=\(folder)"] + arguments) { arguments in
      withStrings(variables) { variables in
        posix_spawn(&identifier, "/usr/bin/env", &actions, &attributes, arguments, variables)
      }
    }
    guard number == 0 else { throw Failure(number: number) }
    return identifier
  }

  /// Waits for the end of a program: its status, or 128 and the number of the signal that ended it.
  public static func wait(for identifier: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }

  /// Lends texts in the form in which C takes lists of them.
  private static func withStrings<Output>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Output
  ) -> Output {
    let pointers = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
  }
}
