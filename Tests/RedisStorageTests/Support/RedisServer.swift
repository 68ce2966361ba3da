import ChildProcesses
import Foundation
import Synchronization

@testable import RedisStorage

/// A `redis-server` on a free port of the loopback interface, in a separate directory. It ends with the object, and
/// within a second when the process of the tests ends, however it ends.
///
/// It is `@unchecked Sendable` because only the test that stops and starts a server changes anything, one at a time.
final class RedisServer: @unchecked Sendable {
  let port: Int
  private let folder: URL
  /// The program with its arguments, apart from the port.
  private let command: [String]
  private var identifier: pid_t = 0

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Starts a server with further `arguments`, and waits until it responds.
  convenience init(_ arguments: [String] = []) throws {
    try self.init { folder in
      ["redis-server", "--dir", folder.path, "--save", "''", "--appendonly", "no"] + arguments
    }
  }

  /// Starts a Sentinel that watches `master` under the name "main", and waits until it knows `replicas` replicas of it. It
  /// takes a silence of half a second for the end of the master.
  convenience init(watching master: RedisServer, replicas: Int) throws {
    try self.init { folder in
      let file = folder.appendingPathComponent("sentinel.conf")
      let lines = [
        "dir \(folder.path)", "sentinel monitor main 127.0.0.1 \(master.port) 1",
        "sentinel down-after-milliseconds main 500", "sentinel failover-timeout main 3000",
      ]
      try (lines.joined(separator: "\n") + "\n").write(to: file, atomically: false, encoding: .utf8)
      return ["redis-server", file.path, "--sentinel"]
    }
    // It asks servers more often than every ten seconds, and continues even after waiting for the processor.
    try ask("SENTINEL", "DEBUG", "INFO-PERIOD", "500", "TILT-TRIGGER", "600000")
    try eventually("the Sentinel knows the replicas") { () -> Void? in
      try ask("SENTINEL", "REPLICAS", "main").elements?.count == replicas ? () : nil
    }
  }

  private init(_ makeCommand: (URL) throws -> [String]) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("redis-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    command = try makeCommand(folder)
    // Another process may take the port between its choice and its use: then another is tried.
    for _ in 0..<20 {
      let candidate = try Self.freePort()
      if let identifier = try Self.launch(candidate, folder, command) {
        (port, self.identifier) = (candidate, identifier)
        return
      }
    }
    throw Failure(description: "no redis-server can be started")
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(at: folder)
  }

  var url: String { "redis://127.0.0.1:\(port)" }
  var address: RedisAddress { RedisAddress(host: "127.0.0.1", port: Int32(port)) }

  /// Kills the server, without giving it time for anything.
  func stop() {
    if identifier > 0 { kill(identifier, SIGKILL) }
    identifier = 0
  }

  /// Stops the server until `resume()`: it neither replies nor ends.
  func pause() { kill(identifier, SIGSTOP) }

  /// Lets the server continue.
  func resume() { kill(identifier, SIGCONT) }

  /// Starts the server again on the same port, without its data.
  func start() throws {
    guard let identifier = try Self.launch(port, folder, command) else {
      throw Failure(description: "redis-server cannot be started again on port \(port)")
    }
    self.identifier = identifier
  }

  /// Returns the output of `redis-cli` for `arguments`.
  @discardableResult
  func cli(_ arguments: String...) throws -> String { try cli(arguments) }

  @discardableResult
  func cli(_ arguments: [String]) throws -> String {
    try Self.run("redis-cli", ["-p", String(port)] + arguments)
  }

  /// Returns the server's reply to the command, even if it is an error.
  @discardableResult
  func ask(_ words: String...) throws -> RedisValue {
    var command = RedisCommand()
    command.append(words)
    return try connection().exchange([command])[0]
  }

  /// A connection that is not logged in.
  func connection() throws -> RedisWitness { try RedisWitness(address) }

  /// Runs a program and returns its output. Fails if the program does.
  static func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = try FinishedProcess(running: [program] + arguments)
    let text = process.output + process.errors
    guard process.status == 0 else {
      throw Failure(description: "\(program) \(arguments.joined(separator: " ")): \(text)")
    }
    return text.trimmingCharacters(in: .newlines)
  }

  /// A port on which no process listens, nor on the one 10,000 higher, which a node of a cluster needs too. No port is
  /// chosen twice: a server that a test has stopped may start again on its own.
  static func freePort() throws -> Int {
    for _ in 0..<100 {
      let port = Int.random(in: 20_000..<32_000)
      let isNew = chosenPorts.withLock { $0.insert(port).inserted }
      if isNew, isFree(port), isFree(port + 10_000) { return port }
    }
    throw Failure(description: "no free port")
  }

  private static let chosenPorts = Mutex<Set<Int>>([])

  private static func isFree(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  /// The process of a server that responds; `nil` if it has ended at once, for example because the port is taken.
  private static func launch(_ port: Int, _ folder: URL, _ command: [String]) throws -> pid_t? {
    let server =
      command
      + ["--port", "\(port)", "--bind", "127.0.0.1", "--logfile", folder.appendingPathComponent("log").path]
    // The shell closes the inherited descriptors, such as connections to other servers. It ends the server when the
    // process of the tests has ended, and ends itself with the server.
    let script = """
      for file in /proc/self/fd/*; do file=${file##*/}; [ $file -le 2 ] || eval "exec $file>&-"; done 2>/dev/null
      \(server.joined(separator: " ")) </dev/null >/dev/null 2>&1 & server=$!; echo $server; exec >/dev/null 2>&1
      while kill -0 $server && kill -0 \(getpid()); do sleep 1; done 2>/dev/null; kill -9 $server 2>/dev/null
      kill -0 \(getpid()) 2>/dev/null || rm -rf \(folder.path)
      """
    let output = folder.appendingPathComponent("started-\(UUID().uuidString)").path
    // In a separate session: the system wakes up the stopped processes of a group when it loses its last link to a
    // parent outside.
    let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
    _ = try Spawning.start(
      ["setsid", "/bin/bash", "-c", script], variables: environment, folder: folder.path, output: output,
      errors: "/dev/null")
    let line = try eventually("the shell has started a server") { () -> String? in
      let text = try? String(contentsOfFile: output, encoding: .utf8)
      return text.flatMap { $0.hasSuffix("\n") ? $0 : nil }
    }
    guard let identifier = pid_t(line.trimmingCharacters(in: .newlines)) else { return nil }
    return try answers(port, identifier) ? identifier : nil
  }

  /// Whether the server replies before it ends.
  private static func answers(_ port: Int, _ identifier: pid_t) throws -> Bool {
    let address = RedisAddress(host: "127.0.0.1", port: Int32(port))
    return try eventually("redis-server on port \(port) answers") {
      // It says under which process it runs: another server may have the port.
      let answer = try? RedisWitness(address).exchange([RedisCommand("INFO", "server")])[0]
      if answer?.error?.word == "NOAUTH" { return true }
      let info = answer?.text
      if let info, info.contains("process_id:") { return info.contains("process_id:\(identifier)\r\n") }
      return kill(identifier, 0) == 0 ? nil : false
    }
  }
}

/// A connection by which a test examines or changes a server, separate from the connections of the engine. It blocks.
final class RedisWitness {
  private let socket: RedisSocket
  private let reader: RedisReader
  private let deadline = ContinuousClock.now.advanced(by: .seconds(600))

  init(_ address: RedisAddress) throws {
    socket = try RedisSocket(address, until: deadline)
    reader = try RedisReader()
  }

  /// Sends all `commands` at once, and waits for their replies.
  func exchange(_ commands: [RedisCommand]) throws -> [RedisValue] {
    var bytes: [UInt8] = []
    for command in commands { command.encode(into: &bytes) }
    try socket.send(bytes, until: deadline)
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
    defer { room.deallocate() }
    var replies: [RedisValue] = []
    while replies.count < commands.count {
      if let reply = try reader.next() {
        replies.append(reply)
      } else if socket.isReady(for: POLLIN, within: 600_000) {
        reader.feed(UnsafeRawBufferPointer(rebasing: room[..<(try socket.receive(into: room))]))
      } else {
        throw RedisServer.Failure(description: "the server does not answer")
      }
    }
    return replies
  }
}

/// Returns the first result of `condition` that is not `nil`. It must come within ten minutes.
func eventually<Output>(_ what: String, _ condition: () throws -> Output?) throws -> Output {
  let deadline = ContinuousClock.now.advanced(by: .seconds(600))
  while ContinuousClock.now < deadline {
    if let output = try condition() { return output }
    usleep(10_000)
  }
  throw RedisServer.Failure(description: "it took too long until \(what)")
}

/// Waits without keeping a thread until `condition` holds, which it must within ten minutes.
func until(_ what: String, _ condition: () async throws -> Bool) async throws {
  let deadline = ContinuousClock.now.advanced(by: .seconds(600))
  while ContinuousClock.now < deadline {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(10))
  }
  throw RedisServer.Failure(description: "it took too long until \(what)")
}
