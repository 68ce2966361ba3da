import Foundation
import CacheBase
import Synchronization
import Testing

/// Streams on whose other side no process does anything for now: a signal ends the tool all the same.
@Suite(.timeLimit(.minutes(30))) struct StalledStreamTests {
  /// Runs the tool with the pipe `pipe`, which this process holds open itself, once `preparation` was done with it. By
  /// the file that SQLite makes for those who have the store open it is known when the tool is at work.
  private func run(
    _ preparation: String, _ arguments: [String], _ redirection: String, _ signal: Int32, in scratch: Scratch
  ) async throws -> Run {
    let sharedMemory = "home/cache.sqlite-shm"
    if scratch.exists(sharedMemory) { try FileManager.default.removeItem(atPath: scratch.path(sharedMemory)) }
    let line = "mkfifo pipe && exec 3<>pipe && \(preparation) && exec \"$0\" \"$@\" \(redirection)"
    let program = try RunningProgram("/bin/sh", ["-c", line, Binary.path] + arguments, in: scratch)
    await program.signal(signal, when: { scratch.exists(sharedMemory) })
    return try await program.end()
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func anImportThatIsGivenNothingEnds(signal: Int32, status: Int32) async throws {
    let scratch = try Scratch()
    let run = try await run("true", ["import"], "<&3", signal, in: scratch)
    #expect(run.status == status && run.output.isEmpty, "\(run.errors)")
    #expect(run.errors.contains("the import of stdin was interrupted: no entry was imported"))
    expectSuccess(try await scratch.cachectl("verify"))
  }

  /// Opening a named pipe would wait for its writer. The tool is known to be at work by the file that it has open.
  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func anImportOfAPipeWithoutAWriterEnds(signal: Int32, status: Int32) async throws {
    let scratch = try Scratch()
    let pipe = scratch.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let program = try RunningProgram(Binary.path, ["import", pipe], in: scratch)
    await program.signal(signal, when: { scratch.exists("home/cache.sqlite-shm") })
    let run = try await program.end()
    #expect(run.status == status, "\(run.errors)")
    #expect(run.errors.contains("the import of \(pipe) was interrupted: no entry was imported"))
  }

  /// The writing end of the pipe at `path`, once the program reads from it; `nil` if the program ended before.
  private static func writer(of path: String, to program: RunningProgram) async -> Int32? {
    let file = Mutex<Int32?>(nil)
    await program.waits(until: {
      let descriptor = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      if descriptor >= 0 { file.withLock { $0 = descriptor } }
      return descriptor >= 0
    })
    return file.withLock(\.self)
  }

  @Test(
    arguments: [["ls"], ["config", "show"], ["config", "validate"], ["doctor"]],
    [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
  func aConfigurationThatIsNotWrittenEnds(command: [String], signal: (number: Int32, status: Int32)) async throws {
    let scratch = try Scratch()
    let pipe = scratch.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let program = try RunningProgram(Binary.path, ["--config", pipe] + command, in: scratch)
    let file = try #require(await Self.writer(of: pipe, to: program))
    defer { close(file) }
    program.signal(signal.number)
    #expect(try await program.end().status == signal.status)
  }

  @Test(arguments: [
    ["--config", "PIPE", "config", "show"], ["config", "validate", "PIPE"], ["--config", "PIPE", "config", "validate"],
    ["--config", "PIPE", "doctor"],
  ])
  func aConfigurationIsReadFromAPipe(command: [String]) async throws {
    let scratch = try Scratch()
    let pipe = scratch.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let program = try RunningProgram(Binary.path, command.map { $0 == "PIPE" ? pipe : $0 }, in: scratch)
    let file = try #require(await Self.writer(of: pipe, to: program))
    for part in ["{\"cache\": ", "{\"maxEntries\": 77}}"] {
      #expect(write(file, part, part.utf8.count) == part.utf8.count)
    }
    close(file)
    let run = try await program.end()
    expectSuccess(run)
    #expect(command.last != "show" || run.text.contains("77"))
  }

  /// As the shell starts the background jobs of a script, and nohup(1) its command.
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func aSignalThatWasIgnoredStaysIgnored(signal: Int32) async throws {
    let scratch = try Scratch()
    let pipe = scratch.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let line = "trap '' \(signal); exec \"$0\" import \"$1\""
    let program = try RunningProgram("/bin/sh", ["-c", line, Binary.path, pipe], in: scratch)
    let file = try #require(await Self.writer(of: pipe, to: program))
    program.signal(signal)
    close(file)
    let run = try await program.end()
    #expect(run.status == 0 && run.text.hasPrefix("Imported 0 entries"), "\(run.errors)")
  }

  /// Opening a named pipe would wait for its reader.
  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func anExportToAPipeWithoutAReaderEnds(signal: Int32, status: Int32) async throws {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    let sharedMemory = "home/cache.sqlite-shm"
    if scratch.exists(sharedMemory) { try FileManager.default.removeItem(atPath: scratch.path(sharedMemory)) }
    let pipe = scratch.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let program = try RunningProgram(Binary.path, ["export", pipe], in: scratch)
    await program.signal(signal, when: { scratch.exists(sharedMemory) })
    #expect(try await program.end().status == status)
  }

  @Test func anImportOfAPipeReadsLaterWrites() async throws {
    let (source, scratch) = (try Scratch(), try Scratch())
    expectSuccess(try await source.cachectl("fetch", "cities"))
    try scratch.write(try await source.cachectl("export").output, to: "lines")
    let line = "mkfifo pipe; \"$0\" import pipe & cat \"$1\" > pipe; wait $!"
    let run = try await scratch.run("/bin/sh", ["-c", line, Binary.path, scratch.path("lines")])
    #expect(run.status == 0 && run.text.hasPrefix("Imported 1 entry"), "\(run.errors)")
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func anExportIntoAPipeWithoutAReaderEnds(signal: Int32, status: Int32) async throws {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    // A pipe of this size is full.
    let run = try await run("head -c 65536 /dev/zero >&3", ["export"], ">&3", signal, in: scratch)
    #expect(run.status == status, "\(run.errors)")
    expectSuccess(try await scratch.cachectl("verify"))
  }

  /// Each record of 2,100 bytes takes a separate page: of sixteen pages two are free. The tool is interrupted once it
  /// has filled these.
  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func anExportEndsThatHasFilledAPipe(signal: Int32, status: Int32) async throws {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("fetch", "cities", "--all"))
    let path = scratch.path("work/pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let pipe = open(path, O_RDWR | O_CLOEXEC)
    defer { close(pipe) }
    let record = [UInt8](repeating: 0, count: 2_100)
    for _ in 0..<14 { #expect(write(pipe, record, record.count) == record.count) }
    let program = try RunningProgram(Binary.path, ["export"], in: scratch, outputTo: path)
    await program.signal(signal) {
      var unread: CInt = 0
      return ioctl(pipe, UInt(FIONREAD), &unread) == 0 && unread >= 14 * 2_100 + 2 * 4_096
    }
    #expect(try await program.end().status == status)
  }
}
