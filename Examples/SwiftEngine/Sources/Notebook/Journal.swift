internal import EngineAPI
internal import FoundationEssentials
internal import CacheBase

/// A file of lines, each the changes of one batch as JSON. A last line that is cut off or damaged is of a batch that was
/// never acknowledged, and is written over.
struct Journal {
  /// The bytes of the whole lines.
  private(set) var size = 0
  private var file: JournalFile
  private let path: String
  private let synchronizes: Bool

  /// Opens the file at `path`, which is created if it is missing, and puts its entries into `table`.
  init(_ path: String, synchronizes: Bool, reading table: inout EntryTable) throws(CacheError) {
    self.path = path
    self.synchronizes = synchronizes
    file = try JournalFile(path, O_RDWR | O_CREAT)
    try file.lock()
    let bytes = try file.contents()
    while let end = bytes[size...].firstIndex(of: newline) {
      let line = Data(bytes[size..<end])
      guard let changes = try? JSONDecoder().decode([Change].self, from: line).map({ try $0.operation() }) else {
        if end == bytes.count - 1 { break }
        throw CacheError(.damaged, "\(path) is damaged at byte \(size)", hint: "restore it, or remove it")
      }
      try table.apply(WriteBatch(changes))
      size = end + 1
    }
  }

  /// Appends the changes of `batch`. If that fails the file is unchanged.
  mutating func append(_ batch: WriteBatch) throws(CacheError) {
    let line = try Self.line(batch.operations)
    if line.isEmpty { return }
    try file.write(line, at: size)
    if synchronizes { try file.synchronize() }
    size += line.count
  }

  /// Puts a file with the entries of `table` alone in the place of the old one.
  mutating func replace(with table: EntryTable) throws(CacheError) {
    let new = try JournalFile(path + ".new", O_RDWR | O_CREAT | O_TRUNC)
    try new.lock()
    var lines: [UInt8] = []
    for (key, entry) in table.entries { lines += try Self.line([.put(key, payload: entry.payload, entry.metadata)]) }
    try new.write(lines, at: 0)
    try new.synchronize()
    try new.rename(to: path)
    file = new
    size = lines.count
  }

  /// The line of these operations; empty if they change nothing.
  private static func line(_ operations: [WriteBatch.Operation]) throws(CacheError) -> [UInt8] {
    let changes = operations.compactMap { Change($0) }
    if changes.isEmpty { return [] }
    do {
      return Array(try JSONEncoder().encode(changes)) + [newline]
    } catch {
      throw CacheError(.failed, "a batch cannot be written as JSON", cause: error)
    }
  }
}

private let newline = UInt8(ascii: "\n")
