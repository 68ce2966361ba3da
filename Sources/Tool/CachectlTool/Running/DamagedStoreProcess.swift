internal import CacheBase
internal import CommandLineKit
internal import FetchVocabulary
internal import CacheCore
internal import EngineAPI

/// Reads a damaged store in another process of this program, which writes a line for each thing it meets.
final class DamagedStoreProcess: DamagedStoreReader {
  /// How long the process can take for one line: it might have to read a whole file first.
  private static let limit = Duration.seconds(60)

  private let arguments: [String]
  private let scratch: ScratchFolder
  private var process: ToolProcess?

  /// Reads the store of `configuration` that is now at `path`, with the options that `global` gives.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if there is no folder for temporary files; `noSpace`, `ioFailed`.
  init(_ engine: String, at path: String, _ configuration: Configuration, _ global: GlobalOptions) throws(CacheError) {
    scratch = try ScratchFolder()
    let name = configuration.loadedEngines.first { $0.plugin.declaration.name == engine }?.path ?? engine
    // This process might have read it from a pipe.
    let file = try? configuration.file.flatMap(ConfigurationLoader.contents)
    let copy = scratch.path + "/config.json"
    var global = global
    global.config = file == nil ? nil : copy
    global.settings.append("backends.\(engine).path=\(path)")
    self.arguments = [DamagedStoreCommand.name, "--backend", name] + global.arguments
    if let file { try AtomicFile.write(file, to: copy) }
  }

  deinit {
    end()
    scratch.remove()
  }

  func begin(_ request: ScanRequest) throws(CacheError) {
    end()
    var arguments = arguments + ["--page-size", String(request.limit)]
    if request.isDescending { arguments.append("--descending") }
    if let position = request.position { arguments.append("--after=\(position)") }
    process = try ToolProcess(arguments, errors: scratch.path + "/errors", temporaryFolder: scratch.path)
  }

  func next() async throws(CacheError) -> DamagedStoreItem {
    guard var process = process.take() else { return .end }
    let start = ContinuousClock.now
    while true {
      // An engine that prints without end returns nothing either.
      switch process.next(within: Self.limit - (ContinuousClock.now - start)) {
      case .line(let line):
        guard let item = DamagedStoreItem(line: line) else { continue }
        self.process = consume process
        if item.isLast { end() }
        return item
      case .end:
        return try stopped(by: process.wait())
      case .nothing:
        process.send(SIGKILL)
        _ = process.wait()
        if Task.isCancelled { throw .cancelled }
        return .stopped(reason: "the engine has returned nothing for \(DurationText(Self.limit))", isSilent: true)
      }
    }
  }

  /// The item for the end of the process: damage has ended it, or it has failed for another reason.
  private func stopped(by end: ToolProcess.End) throws(CacheError) -> DamagedStoreItem {
    let subject = "the process that read the store"
    if case .exited(let status) = end, status != ExitCode.dataError.rawValue {
      throw CacheError(.failed, "\(subject) ended with status \(status): \(firstError)")
    }
    let cause = if case .killed(let signal) = end { String(cString: strsignal(signal)) } else { "damage" }
    return .stopped(reason: "\(subject) was ended by \(cause)")
  }

  /// The first line that the process wrote to its standard error.
  private var firstError: String {
    let bytes = (try? ConfigurationFiles.contents(of: scratch.path + "/errors")) ?? []
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }.prefix(4_096), as: UTF8.self)
  }

  /// Ends the process. It closes the store in order if it can.
  private func end() { process.take()?.stop() }
}

/// The command of that process. It is none of the program's commands: neither help nor completion knows it.
struct DamagedStoreCommand: AsyncParsableCommand {
  static let name = "__read"
  static let configuration = CommandConfiguration(commandName: name)

  /// After how many seconds in which the engine returns nothing this process ends, even if the one that started it has
  /// been killed.
  private static let secondsAllowed: UInt32 = 90

  @Option(help: "How many entries to scan at once")
  var pageSize = 1

  @Option(help: "The key to begin behind")
  var after: String?

  @Flag(help: "Read from the last key to the first")
  var descending = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    signal(SIGALRM, SIG_DFL)
    alarm(Self.secondsAllowed)
    let container = try AppDIContainer.ofProcess(global.configurationFlags)
    do throws(CacheError) {
      let store = try await container.openDamagedStore()
      let request = ScanRequest(after: after, limit: pageSize, includesPayloads: true, isDescending: descending)
      do throws(CacheError) {
        try await store.administration.readDamaged(request, Self.write)
      } catch {
        _ = try? await store.entries.close()
        throw error
      }
      try await store.entries.close()
    } catch {
      // Any other failure is not damage, and would look like the loss of everything.
      guard error.isOfData else { throw error }
      try Self.write(.stopped(reason: error.message))
    }
  }

  private static func write(_ item: DamagedStoreItem) throws(CacheError) {
    // The reader can take its time.
    alarm(0)
    try Console.output.write(item.line)
    alarm(secondsAllowed)
  }
}

extension DamagedStoreItem {
  fileprivate var isLast: Bool {
    switch self {
    case .end, .stopped: true
    case .reading, .entry, .lost: false
    }
  }

  /// A line: an entry as in an export; or a sign, and a key or a reason. No key has a space in it.
  fileprivate var line: [UInt8] {
    var line: [UInt8] = []
    switch self {
    case .entry(let entry): entry.encode(to: &line)
    case .reading(let key): line += "?\(key)\n".utf8
    case .lost(let key, let reason): line += "-\(key) \(Self.single(reason))\n".utf8
    case .end: line += ".\n".utf8
    case .stopped(let reason, _): line += "!\(Self.single(reason))\n".utf8
    }
    return line
  }

  private static func single(_ reason: String) -> String { reason.split(separator: "\n").joined(separator: " ") }

  /// `nil` for anything else, such as output of an engine.
  fileprivate init?(line: [UInt8]) {
    let rest = String(decoding: line.dropFirst(), as: UTF8.self)
    switch line.first {
    case UInt8(ascii: "{"):
      guard let entry = try? ExportedEntry.decode(line) else { return nil }
      self = .entry(entry)
    case UInt8(ascii: "?"):
      guard let key = try? CacheKey(rest) else { return nil }
      self = .reading(key)
    case UInt8(ascii: "-"):
      let parts = rest.split(separator: " ", maxSplits: 1)
      guard let key = parts.first, let key = try? CacheKey(String(key)) else { return nil }
      self = .lost(key, reason: parts.count > 1 ? String(parts[1]) : "it cannot be read")
    case UInt8(ascii: "."): self = .end
    case UInt8(ascii: "!"): self = .stopped(reason: rest)
    default: return nil
    }
  }
}
