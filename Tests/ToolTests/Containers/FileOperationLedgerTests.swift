import FetchVocabulary
import Foundation
import CacheCore
import Testing

@testable import CacheComposition
@testable import ProgramConfiguration

struct FileOperationLedgerTests {
  @Test func countsAddUpOverHandles() throws {
    let home = try TestHome()
    let path = home.folder + "/x.usage"
    #expect(try FileOperationLedger(file: UsageFile(path: path)).totals() == OperationCounts())
    try FileOperationLedger(file: UsageFile(path: path)).add(OperationCounts(hits: 1, misses: 2, evictions: 3))
    try FileOperationLedger(file: UsageFile(path: path)).add(OperationCounts(hits: 10))
    #expect(
      try FileOperationLedger(file: UsageFile(path: path)).totals()
        == OperationCounts(hits: 11, misses: 2, evictions: 3))
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.hasPrefix("hits=11 misses=2 evictions=3 "))
    #expect(text.hasSuffix("\n"))
  }

  @Test func aProcessThatIsSuspendedWithTheLockStopsNoOtherForEver() throws {
    let home = try TestHome()
    let file = UsageFile(path: home.folder + "/x.usage", patience: .milliseconds(5))
    try FileOperationLedger(file: file).add(OperationCounts(hits: 1))
    let other = open(file.path, O_RDWR)
    #expect(flock(other, LOCK_EX) == 0)
    for change in [true, false] {
      let error = #expect(throws: CacheError.self) {
        if change { try FileOperationLedger(file: file).add(OperationCounts(hits: 1)) }
        if !change { _ = try FileOperationLedger(file: file).totals() }
      }
      #expect(error?.code == .busy && error?.message.contains("x.usage cannot be locked") == true)
    }
    // Another test may be starting a program, which has the descriptor too.
    flock(other, LOCK_UN)
    close(other)
    #expect(try FileOperationLedger(file: file).totals() == OperationCounts(hits: 1))
  }

  @Test func nothingIsWrittenWhereNothingWasCounted() throws {
    let home = try TestHome()
    try FileOperationLedger(file: UsageFile(path: home.home + "/x.usage")).add(OperationCounts())
    #expect(!FileManager.default.fileExists(atPath: home.home))
  }

  @Test func nothingIsLostWhereManyAddAtOnce() async throws {
    let home = try TestHome()
    let path = home.home + "/x.usage"
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<16 {
        group.addTask {
          for number in 0..<50 {
            try FileOperationLedger(file: UsageFile(path: path)).add(
              OperationCounts(hits: 1, misses: 2, evictions: number % 2))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(
      try FileOperationLedger(file: UsageFile(path: path)).totals()
        == OperationCounts(hits: 800, misses: 1_600, evictions: 400)
    )
  }

  @Test(arguments: [
    "", "\n", "hits=1", "hits=1 misses=2", "hits=1 misses=2 evictions=x", "hits=-1 misses=2 evictions=3",
    "hits=99999999999999999999 misses=2 evictions=3", "hits misses evictions", "\u{0}\u{0}\u{0}",
  ])
  func aMalformedFileCountsAsZeroAndIsPutRight(text: String) throws {
    let home = try TestHome()
    let ledger = FileOperationLedger(file: UsageFile(path: home.folder + "/x.usage"))
    try Data(text.utf8).write(to: URL(filePath: ledger.file.path))
    #expect(try ledger.totals() == OperationCounts())
    try ledger.add(OperationCounts(hits: 5))
    #expect(try ledger.totals() == OperationCounts(hits: 5))
  }

  @Test(arguments: ["1 2 3", "a=1 b=2 c=3", "mine\n", String(repeating: "x", count: 500)])
  func aFileOfSomeoneElseIsNotChanged(text: String) throws {
    let home = try TestHome()
    let file = UsageFile(path: home.folder + "/x.usage")
    try Data(text.utf8).write(to: URL(filePath: file.path))
    #expect(throws: CacheError.self) { try FileOperationLedger(file: file).add(OperationCounts(hits: 5)) }
    #expect(throws: CacheError.self) { try FileSweepLog(file: file).save("sweep-2 1 1") }
    #expect(try String(contentsOfFile: file.path, encoding: .utf8) == text)
  }

  @Test(arguments: [
    "hits=1 misses=2 evictions=3", "hits=1 misses=2 evictions=3\n", "misses=2\tevictions=3  hits=1\r\n",
  ])
  func aLineThatAPersonWroteIsRead(text: String) throws {
    let home = try TestHome()
    let ledger = FileOperationLedger(file: UsageFile(path: home.folder + "/x.usage"))
    try Data(text.utf8).write(to: URL(filePath: ledger.file.path))
    #expect(try ledger.totals() == OperationCounts(hits: 1, misses: 2, evictions: 3))
  }

  @Test func theLargestNumbersFit() throws {
    let home = try TestHome()
    let ledger = FileOperationLedger(file: UsageFile(path: home.folder + "/x.usage"))
    let largest = OperationCounts(hits: .max, misses: .max, evictions: .max)
    for _ in 0..<2 {
      try ledger.add(largest)
      #expect(try ledger.totals() == largest)
    }
  }

  @Test func whatCannotBeReadIsAnErrorAndNotZero() throws {
    let home = try TestHome()
    let (link, folder) = (home.folder + "/link.usage", home.folder + "/folder.usage")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: link)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for path in [link, folder, home.folder + "/" + String(repeating: "x", count: 300)] {
      let ledger = FileOperationLedger(file: UsageFile(path: path))
      let errors = [
        #expect(throws: CacheError.self) { _ = try ledger.totals() },
        #expect(throws: CacheError.self) { try ledger.add(OperationCounts(hits: 1)) },
      ]
      for error in errors {
        #expect(error?.code.rawValue == "ioFailed")
        #expect(error?.message.hasPrefix(path) == true)
      }
    }
  }
}
