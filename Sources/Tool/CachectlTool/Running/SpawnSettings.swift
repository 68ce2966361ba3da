internal import Glibc

/// How to start a process: its streams, and its signals set as a shell would set them.
struct SpawnSettings: ~Copyable {
  private var actions = posix_spawn_file_actions_t()
  private var attributes = posix_spawnattr_t()

  /// Reads the standard input from the descriptor `input` unless that is negative, and sends the standard output to the
  /// descriptor `output` and the standard error to the file `errors`.
  init(input: Int32, output: Int32, errors: String) {
    posix_spawn_file_actions_init(&actions)
    if input >= 0 { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawnattr_init(&attributes)
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
  }

  deinit {
    // The C functions need variables; the structures do not contain their own addresses.
    var (actions, attributes) = (actions, attributes)
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
  }

  /// Starts `program`, and returns 0 or the number of the error.
  func spawn(_ identifier: inout pid_t, _ program: String, _ arguments: [String], _ variables: [String]) -> Int32 {
    var (actions, attributes) = (actions, attributes)
    return withStrings(arguments) { arguments in
      withStrings(variables) { variables in
        posix_spawn(&identifier, program, &actions, &attributes, arguments, variables)
      }
    }
  }

  /// Passes texts to `body` as a C list of strings.
  private func withStrings<Output>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Output
  ) -> Output {
    let pointers = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
  }
}
