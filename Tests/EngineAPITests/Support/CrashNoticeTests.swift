import CCrashNotice
import Foundation
import CacheBase
import Synchronization
import Testing

/// The number of calls that installed the program's handlers.
private let preparations = Atomic(0)

/// The table of mapped stores.
@Suite(.serialized) struct CrashNoticeTests {
  /// A file of one page that is mapped with room behind its end.
  private final class MappedFile {
    static let length = 1 << 16
    let folder = NSTemporaryDirectory() + "cachectl-tests-\(UUID().uuidString)"
    let descriptor: Int32
    let map: UnsafeMutableRawPointer

    /// - Parameter name: a name may have spaces, as a path in the list of mappings.
    init(_ name: String = "a  file") throws {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      descriptor = open("\(folder)/\(name)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      #expect(ftruncate(descriptor, 4_096) == 0)
      map = try #require(mmap(nil, Self.length, PROT_READ, MAP_SHARED, descriptor, 0))
    }

    deinit {
      munmap(map, Self.length)
      close(descriptor)
      try? FileManager.default.removeItem(atPath: folder)
    }

    func add() -> Int32 { ccrash_add(descriptor, "/store", "mapped", "/store.crashed") }
  }

  private func find(_ address: UnsafeRawPointer?) -> Int32 { ccrash_find(address) }

  @Test func anAddressBelongsToTheStoreWhoseFileIsMappedThereOrThatTheThreadUses() throws {
    let (first, second) = (try MappedFile(), try MappedFile("second"))
    let store = first.add()
    #expect(store >= 0)
    let last = MappedFile.length - 1
    #expect(find(first.map) == store && find(first.map + last) == store, "after the file's end, too")
    #expect(find(second.map) == -1)
    withUnsafePointer(to: store) { #expect(find($0) == -1) }
    #expect(find(nil) == -1, "a null pointer elsewhere")
    let other = second.add()
    ccrash_enter(store)
    #expect(find(nil) == store && find(second.map) == other)
    withUnsafePointer(to: store) { #expect(find($0) == store) }
    ccrash_leave()
    #expect(find(nil) == -1)
    ccrash_enter(-1)
    #expect(find(nil) == -1, "a store for which there was no room")
    ccrash_enter(store)
    ccrash_remove(store)
    #expect(find(nil) == -1 && find(first.map) == -1 && find(second.map) == other)
    ccrash_leave()
    ccrash_remove(other)
  }

  @Test func aMapThatWasMadeAgainIsFound() throws {
    let file = try MappedFile()
    let store = file.add()
    let map = try #require(mmap(nil, 1 << 20, PROT_READ, MAP_SHARED, file.descriptor, 0))
    #expect(find(map + (1 << 20) - 1) == store)
    munmap(map, 1 << 20)
    ccrash_remove(store)
  }

  @Test func aFullTableRefusesAStoreAndTakesItOnceThereIsRoom() throws {
    let file = try MappedFile()
    var stores: [Int32] = []
    while case let store = file.add(), store >= 0 { stores.append(store) }
    #expect(stores.count > 1 && Set(stores).count == stores.count)
    ccrash_remove(stores.removeLast())
    let store = file.add()
    #expect(store >= 0)
    for store in stores + [store] { ccrash_remove(store) }
    #expect(find(file.map) == -1)
  }

  @Test func handlersAreInstalledBeforeTheFirstStoreIsAdded() throws {
    let file = try MappedFile()
    ccrash_prepare { preparations.add(1, ordering: .relaxed) }
    #expect(preparations.load(ordering: .relaxed) == 0)
    for _ in 0..<2 { ccrash_remove(file.add()) }
    #expect(preparations.load(ordering: .relaxed) == 1)
  }

  @Test func withoutHandlersNothingEndsTheProcess() throws {
    let store = try MappedFile().add()
    ccrash_end(store)
    ccrash_end(-1)
    ccrash_remove(store)
  }
}
