import Foundation

/// A program that runs beside the tests. Foundation's `Process` crashes in a process with some 1,300 open files, and so
/// many connections have the tests of clusters.
struct ChildProcess: Sendable {
  private let identifier: pid_t
  private let output: FileHandle

  /// Starts `arguments`, the first of which is the path of the program, with `environment`; `nil` for that of the tests.
  init(_ arguments: [String], environment: [String: String]? = nil) throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw RedisServer.Failure(description: "no pipe: errno \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    output = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    defer { close(ends[1]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    for stream in [STDOUT_FILENO, STDERR_FILENO] { posix_spawn_file_actions_adddup2(&actions, ends[1], stream) }
    // In a group of its own: the system wakes up the stopped processes of a group when it loses its last link to a parent
    // outside.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var variables = environment.map { $0.map { strdup("\($0)=\($1)") } + [nil] } ?? []
    defer { for variable in variables { free(variable) } }
    var child = pid_t()
    let result = variables.withUnsafeMutableBufferPointer {
      posix_spawn(&child, arguments[0], &actions, &attributes, &words, environment == nil ? environ : $0.baseAddress)
    }
    guard result == 0 else { throw RedisServer.Failure(description: "\(arguments[0]): errno \(result)") }
    identifier = child
  }

  /// Sends a signal to the child, which must not have been waited for.
  func signal(_ number: Int32) { kill(identifier, number) }

  /// What the child prints first.
  func firstOutput() -> String { String(decoding: output.availableData, as: UTF8.self) }

  /// Waits for the end of the child. Returns what it has printed, and whether it succeeded.
  func finish() -> (output: String, hasSucceeded: Bool) {
    let text = String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    return (text, status == 0)
  }
}

/// What the build puts beside the tests.
enum BuiltProducts {
  /// The path of the program or library called `name`.
  static func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  private static var folder: URL {
    // The test bundle is the first argument that SwiftPM gives to the runner of tests, or the runner itself.
    let arguments = CommandLine.arguments
    let bundle = arguments.first { $0.hasSuffix(".xctest") } ?? arguments[0]
    return URL(fileURLWithPath: bundle).resolvingSymlinksInPath().deletingLastPathComponent()
  }
}
