internal import CCachectlPlugin
internal import Platform
internal import StorageSPI
internal import Synchronization

/// An engine in a loaded library: its functions and its declaration.
///
/// There is one per library, for as long as the process lives, so its address can be the context of every call:
/// whatever a library does with it, it stays valid.
///
/// `@unchecked Sendable`: the functions are constants of the library, which by the rules of the interface any thread
/// may call; everything else is immutable or atomic.
final class LibraryTable: @unchecked Sendable {
  let functions: LibraryFunctions
  let declaration: EngineDeclaration
  /// Whether a read may wait for a disk or a network.
  let readsWait: Bool
  /// The thread-specific key for the thread's current call.
  let callKey: pthread_key_t
  private let strays = Atomic<Int>(0)

  /// Checks the table at `pointer`, which came from `file`.
  ///
  /// - Throws: `CacheError` with the code `invalidPlugin`, which says what is wrong with it.
  init(_ pointer: UnsafeRawPointer, _ file: LibraryFile) throws(CacheError) {
    guard let callKey = LibraryCall.threadKey else {
      throw CacheError(.failed, "library \(file.path) cannot be used: no key for data of threads is left")
    }
    self.callKey = callKey
    do throws(LibraryDefect) {
      let engine = try cachectl_engine(copying: pointer)
      functions = try LibraryFunctions(engine)
      declaration = try EngineDeclaration(engine)
      readsWait = engine.flags & CACHECTL_READS_WAIT != 0
    } catch {
      throw CacheError(
        .invalidPlugin, "library \(file.path) \(error.text)",
        hint: "get one that is built for this version of cachectl, or tell its author")
    }
  }

  /// The engine's name.
  var name: String { declaration.name }

  /// The context of every call to the library.
  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Records a callback at a time when none was allowed.
  func countStray() { strays.add(1, ordering: .relaxed) }

  /// Whether there were unexpected callbacks since the last call of this function.
  @inline(__always)
  func takeStrays() -> Bool {
    if strays.load(ordering: .relaxed) == 0 { return false }
    return strays.exchange(0, ordering: .relaxed) != 0
  }
}
