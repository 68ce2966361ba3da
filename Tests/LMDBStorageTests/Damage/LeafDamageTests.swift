import Foundation
import StorageSPI
import Testing

@testable import LMDBStorage

/// A damaged leaf of a store so large that opening it checks no leaves: the engine reports the damage, where LMDB would
/// end the process.
@Suite struct LeafDamageTests {
  private static let entries = 1_200
  private static let pageSize = 4_096

  enum Damage: CaseIterable {
    case zeros, overflowKind, branchKind, noKind, lowerBound, upperBound, nodeOffset, keySize, otherNumber, keyOrder

    func apply(to page: inout [UInt8]) {
      switch self {
      case .zeros: page = [UInt8](repeating: 0, count: page.count)
      case .overflowKind: page[10] = 4
      case .branchKind: page[10] = 1
      case .noKind: page[10] = 0
      case .lowerBound: (page[12], page[13]) = (0xFE, 0xFF)
      case .upperBound: (page[14], page[15]) = (0, 0)
      case .nodeOffset: (page[16], page[17]) = (0xFE, 0x0F)
      case .keySize: page[Int(page[16]) + Int(page[17]) << 8 + 7] = 0xFF
      case .otherNumber: page[0] ^= 1
      case .keyOrder: page[Int(page[16]) + Int(page[17]) << 8 + 8 + "movies/".count] = 0x7A
      }
    }
  }

  private func key(_ number: Int) -> String { "movies/\(10_000 + number)" }

  /// A store with a damaged leaf in the middle, or the first one below the second branch; and the numbers of that leaf's
  /// entries.
  private func damagedStore(
    _ damage: Damage, firstOfBranch: Bool = false
  ) async throws -> (store: TestStore, lost: Range<Int>) {
    let store = try TestStore()
    let engine = try await store.open(mapSize: 16 << 20)
    var batch = WriteBatch()
    for number in 0..<Self.entries {
      batch.put(try CacheKey(key(number)), payload: [UInt8](repeating: 1, count: 1_000), metadata: .sample())
    }
    try await engine.apply(batch)
    try await engine.close()
    var file = try store.bytes
    let first = firstOfBranch ? try Self.firstLeafOfSecondBranch(file) : file.count / Self.pageSize / 2
    for number in first..<file.count / Self.pageSize {
      let place = number * Self.pageSize..<(number + 1) * Self.pageSize
      var bytes = Array(file[place])
      let found: [Int] = bytes.withUnsafeBytes { bytes in
        guard let page = try? LMDBPage(bytes, number: UInt64(number)), page.isLeaf else { return [] }
        return (0..<page.count).compactMap { Int(String(decoding: page[$0].key, as: UTF8.self).dropFirst(7)) }
      }
      guard let first = found.first, let last = found.last else { continue }
      damage.apply(to: &bytes)
      file.replaceSubrange(place, with: bytes)
      try Data(file).write(to: URL(fileURLWithPath: store.dataFile))
      return (store, first - 10_000..<last - 9_999)
    }
    throw CacheError(.failed, "there is no leaf")
  }

  /// The number of the first leaf below the second of the lowest branches.
  private static func firstLeafOfSecondBranch(_ file: [UInt8]) throws -> Int {
    try file.withUnsafeBytes { file in
      let pages = LMDBPages(bytes: file, size: pageSize)
      let branches = (2..<UInt64(file.count / pageSize)).compactMap { try? pages.page($0) }.filter { page in
        guard !page.isLeaf, let child = try? pages.page(page[0].child) else { return false }
        return child.isLeaf && String(decoding: child[0].key, as: UTF8.self).hasPrefix("movies/")
      }
      let sorted = branches.sorted { byteOrder($0[1].key, $1[1].key) < 0 }
      return Int(try #require(sorted.dropFirst().first)[0].child)
    }
  }

  @Test(arguments: Damage.allCases)
  func listingReportsIt(_ damage: Damage) async throws {
    let (store, lost) = try await damagedStore(damage)
    let engine = try await store.open()
    #expect(await code { _ = try await engine.scan(KeyRange(), limit: Self.entries) } == .damaged)
    let before = try await engine.scan(KeyRange(), limit: lost.lowerBound)
    #expect(before.map(\.key.text) == (0..<lost.lowerBound).map(key))
    let after = try await engine.scan(KeyRange(after: CacheKey(key(lost.upperBound))), limit: Self.entries)
    #expect(after.map(\.key.text) == (lost.upperBound + 1..<Self.entries).map(key))
    #expect(try await engine.statistics().entries == Self.entries)
    #expect(try await engine.checkIntegrity().map(\.kind) == [.structure])
    #expect(await code { try await engine.compact() } == .damaged)
  }

  @Test(arguments: Damage.allCases.filter { $0 != .keyOrder })
  func removingBesideItIsRefused(_ damage: Damage) async throws {
    let (store, lost) = try await damagedStore(damage)
    let engine = try await store.open()
    for number in [lost.lowerBound - 1, lost.lowerBound, lost.upperBound] {
      #expect(await code { try await engine.remove(key(number)) } == .damaged, "\(number)")
    }
    for number in [0, lost.lowerBound - 20, lost.upperBound + 20, Self.entries - 1] {
      try await engine.remove(key(number))
      #expect(try await engine.payload(key(number)) == nil)
    }
    #expect(try await engine.statistics().entries == Self.entries - 4)
  }

  /// After the last entry of a leaf is removed, LMDB reads the next leaf, which can be below another branch.
  @Test(arguments: Damage.allCases)
  func removingTheLastEntryBelowABranchIsRefused(_ damage: Damage) async throws {
    let (store, lost) = try await damagedStore(damage, firstOfBranch: true)
    let engine = try await store.open()
    var batch = WriteBatch()
    for number in [lost.lowerBound - 1, 0] { batch.remove(try CacheKey(key(number))) }
    #expect(await code { try await engine.apply(batch) } == .damaged)
    #expect(try await engine.payload(key(0)) != nil)
  }

  /// LMDB trusts the header of a large value when it frees its pages.
  @Test func removingALargeValueWithAWrongHeaderIsRefused() async throws {
    let store = try TestStore()
    let engine = try await store.open(mapSize: 16 << 20)
    for number in 0..<400 { try await engine.put(key(number), [UInt8](repeating: 7, count: 5_000)) }
    try await engine.close()
    var file = try store.bytes
    let pages = (2..<file.count / Self.pageSize).filter { file[$0 * Self.pageSize + 10] == 4 }
    for page in pages { file[page * Self.pageSize] ^= 1 }
    try Data(file).write(to: URL(fileURLWithPath: store.dataFile))
    let other = try await store.open()
    #expect(await code { try await other.remove(key(200)) } == .damaged)
  }

  /// A store from a machine with larger pages than this one: the map begins at any page of the system.
  @Test(arguments: [0, 1, 2, 3], [100, 5_000, 16_000])
  func largePagesAreFoundInTheMap(offset: Int, valueSize: Int) {
    let (size, system) = (16_384, 4_096)
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4 * size, alignment: size)
    defer { room.deallocate() }
    room.initializeMemory(as: UInt8.self, repeating: 0xA5)
    let start = offset * system + size
    let node = 8 + 1 + valueSize + (valueSize + 1) % 2
    func store(_ value: Int, at place: Int) {
      room.storeBytes(of: UInt16(value), toByteOffset: start + place, as: UInt16.self)
    }
    room.storeBytes(of: 5, toByteOffset: start, as: UInt64.self)
    for (place, value) in [(8, 0), (10, 2), (12, 18), (14, size - node), (16, size - node)] { store(value, at: place) }
    for (place, value) in [(0, valueSize), (2, 0), (4, 0), (6, 1)] { store(value, at: size - node + place) }
    let value = UnsafeRawPointer(room.baseAddress! + start + size - node + 9)
    let found = LMDBPages.leaf(around: value, pageSize: size, systemPageSize: system)
    #expect(found?.number == 5 && found?.start == UnsafeRawPointer(room.baseAddress! + start))
  }
}
