public import StorageSPI
public import Synchronization

/// Keeps idle resources, such as read transactions, for reuse by any task.
///
/// A resource in use belongs to one caller alone. The pool never holds more resources than there were concurrent calls.
/// Cost of one use: two atomic exchanges, no lock and no allocation if calls do not overlap; up to two more short locks
/// if they do. It is inlinable because looking up the metadata of unspecialized generics would cost more than a read
/// from memory.
public final class ResourcePool<Resource: AnyObject & Sendable>: Sendable {
  @usableFromInline struct State {
    /// The idle resources that did not fit in `nearest`.
    @usableFromInline var idle: [Resource] = []
    @usableFromInline var isClosed = false

    @usableFromInline init() {}
  }

  @usableFromInline let state = Mutex(State())

  /// One idle resource with its reference count, as an address: `empty`, or `closed` once the pool is closed. It is
  /// used next, and it is the only resource as long as calls do not overlap.
  @usableFromInline let nearest = Atomic<UInt>(0)

  @inlinable static var empty: UInt { 0 }
  /// Not a valid address: objects are aligned to more than one byte.
  @inlinable static var closed: UInt { 1 }

  /// An empty pool.
  @inlinable public init() {}

  deinit { if let last = takeNearest() { last.release() } }

  /// Calls `body` with an idle resource, or with a new one from `make` if all are in use. Afterwards the resource is
  /// idle again, unless `body` threw: then its state is unknown, and the pool drops it.
  ///
  /// - Throws: what `make` and `body` throw; `CacheError` with the code `closed` after `close()`.
  @inlinable @inline(__always)
  public func withResource<Output>(
    make: () throws(CacheError) -> Resource, _ body: (Resource) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let resource = try take(orMake: make).takeRetainedValue()
    let output = try body(resource)
    giveBack(.passRetained(resource))
    return output
  }

  /// Takes an idle resource, or a new one from `make` if all are in use. It is for callers that cannot afford a closure
  /// or a reference count, such as those generic over their result.
  ///
  /// The resource and its reference count belong to the caller until `giveBack(_:)`. If its state is in doubt, release
  /// it instead.
  ///
  /// - Throws: what `make` throws; `CacheError` with the code `closed` after `close()`.
  @inlinable @inline(__always)
  public func take(orMake make: () throws(CacheError) -> Resource) throws(CacheError) -> Unmanaged<Resource> {
    if let idle = takeNearest() { return idle }
    if let idle = try takeAny() { return .passRetained(idle) }
    return .passRetained(try make())
  }

  /// Returns a taken resource to the pool.
  @inlinable @inline(__always)
  public func giveBack(_ resource: Unmanaged<Resource>) {
    let (isGiven, _) = nearest.compareExchange(
      expected: Self.empty, desired: UInt(bitPattern: resource.toOpaque()), successOrdering: .releasing,
      failureOrdering: .relaxed)
    if !isGiven { giveBackBehindLock(resource) }
  }

  /// Releases all idle resources, so that the next use makes a new one.
  public func removeIdle() {
    let idle = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    takeNearest()?.release()
    _ = idle  // Released here, outside the lock.
  }

  /// Releases all idle resources, and from now on every resource that comes back.
  public func close() {
    state.withLock { $0.isClosed = true }
    let last = nearest.exchange(Self.closed, ordering: .acquiring)
    Self.resource(at: last)?.release()
    removeIdle()
  }

  /// Calls `body` with each idle resource. A caller that needs one meanwhile waits, so `body` must be short.
  public func forEachIdle(_ body: (Resource) -> Void) {
    state.withLock { state in
      if let last = takeNearest() { state.idle.append(last.takeRetainedValue()) }
      for resource in state.idle { body(resource) }
    }
  }

  @inlinable @inline(__always)
  func takeNearest() -> Unmanaged<Resource>? {
    let address = nearest.load(ordering: .relaxed)
    guard let resource = Self.resource(at: address) else { return nil }
    let (isTaken, _) = nearest.compareExchange(
      expected: address, desired: Self.empty, successOrdering: .acquiring, failureOrdering: .relaxed)
    return isTaken ? resource : nil
  }

  @usableFromInline func takeAny() throws(CacheError) -> Resource? {
    let (resource, isClosed) = state.withLock { state in
      // Try again: another task may have moved it behind the lock meanwhile and put another one in its place.
      (state.idle.popLast() ?? takeNearest()?.takeRetainedValue(), state.isClosed)
    }
    if isClosed { throw .storeClosed }
    return resource
  }

  @usableFromInline func giveBackBehindLock(_ resource: Unmanaged<Resource>) {
    let resource = resource.takeRetainedValue()
    state.withLock { if !$0.isClosed { $0.idle.append(resource) } }
  }

  @inlinable @inline(__always)
  static func resource(at address: UInt) -> Unmanaged<Resource>? {
    guard address > closed, let pointer = UnsafeRawPointer(bitPattern: address) else { return nil }
    return Unmanaged.fromOpaque(pointer)
  }
}
