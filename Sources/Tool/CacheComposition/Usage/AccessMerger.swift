internal import Platform
internal import ResponseStorage
internal import StorageSPI

/// Merges the sorted records of a file and those of a table into one sorted file. Memory does not grow with the file,
/// except for eight bytes per record if there are too many records.
struct AccessMerger {
  private static let chunkSize = 1 << 20

  private let content: AccessFileContent
  private let added: [AccessRecord]
  /// Uses before this time are left out.
  private let earliest: Int64

  /// Merges the sorted part of `content` with `table`, and keeps about `capacity` records.
  init(content: AccessFileContent, table: AccessTable, capacity: Int) {
    self.content = content
    added = table.records.sorted { $0.digest < $1.digest }
    earliest = Self.earliest(content, added, capacity)
  }

  /// Writes the file, and says whether that succeeded; if not, the reason is in `errno`.
  func write(to descriptor: Int32) -> Bool {
    var (bytes, count, isWritten) = ([UInt8](), 0, true)
    bytes.reserveCapacity(Self.chunkSize + AccessRecord.size)
    AccessFileContent.head(count: 0).append(to: &bytes)
    forEach { record in
      record.append(to: &bytes)
      count += 1
      if bytes.count >= Self.chunkSize {
        isWritten = isWritten && Self.append(bytes, to: descriptor)
        bytes.removeAll(keepingCapacity: true)
      }
    }
    var head: [UInt8] = []
    AccessFileContent.head(count: count).append(to: &head)
    return isWritten && Self.append(bytes, to: descriptor) && pwrite(descriptor, head, head.count, 0) == head.count
  }

  /// Passes all records to `body` in order, with the records of one digest merged.
  private func forEach(_ body: (AccessRecord) -> Void) {
    var next = added.startIndex
    func take(_ record: AccessRecord) {
      if record.history.lastUsedAt.milliseconds >= earliest { body(record) }
    }
    for place in content.sorted {
      guard let old = content.record(at: place) else { continue }
      while next < added.endIndex, added[next].digest < old.digest {
        take(added[next])
        next += 1
      }
      guard next < added.endIndex, added[next].digest == old.digest else {
        take(old)
        continue
      }
      take(AccessRecord(digest: old.digest, history: old.history + added[next].history))
      next += 1
    }
    added[next...].forEach(take)
  }

  /// The earliest use to keep so that about `capacity` records are left.
  private static func earliest(_ content: AccessFileContent, _ added: [AccessRecord], _ capacity: Int) -> Int64 {
    guard content.sorted.count + added.count > capacity else { return .min }
    var times = content.sorted.compactMap { content.record(at: $0)?.history.lastUsedAt.milliseconds }
    times += added.map(\.history.lastUsedAt.milliseconds)
    times.sort()
    return times.count > capacity ? times[times.count - capacity] : .min
  }

  private static func append(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    Platform.write(descriptor, bytes, bytes.count) == bytes.count
  }
}
