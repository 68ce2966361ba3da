public import Synchronization

/// Keeps idle resources, such as read transactions, for reuse by any task.
///
/// While it is in use a resource belongs to one caller alone. There are never more resources than calls were under way
/// at once. Cost of a use where calls do not overlap: two atomic exchanges, no lock, no allocation; where they do, up to
/// two short locks more. It is inlinable because looking up the metadata of unspecialized generics
/// would cost a read from memory more than that.
public final class ResourcePool<Resource: AnyObject & Sendable>: Sendable {
  @usableFromInline struct State {
    /// The idle resources for which there was no room in `nearest`.
    @usableFromInline var idle: [Resource] = []
    @usableFromInline var isClosed = false

    @usableFromInline init() {}
  }

  @usableFromInline let state = Mutex(State())

  /// One idle resource with its reference count, as an address: `empty`, or `closed` once the pool is. It is the next
  /// to be used, and the only one as long as calls do not overlap.
  @usableFromInline let nearest = Atomic<UInt>(0)

  @inlinable static var empty: UInt { 0 }
  /// No address: objects are aligned to more than one byte.
  @inlinable static var closed: UInt { 1 }

  /// An empty pool.
  @inlinable public init() {}

  deinit { if let last = takeNearest() { last.release() } }

  /// Calls `body` with an idle resource, or with one that `make` makes where all are in use. Afterwards the resource is
  /// idle again, unless `body` threw: then it is let go, because nobody knows in what state it is.
  ///
  /// - Throws: what `make` and `body` throw; `StorageError` with the code `closed` after `close()`.
  @inlinable @inline(__always)
  public func withResource<Output>(
    make: () throws(StorageError) -> Resource, _ body: (Resource) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    let resource = try take(orMake: make).takeRetainedValue()
    let output = try body(resource)
    giveBack(.passRetained(resource))
    return output
  }

  /// An idle resource, or one that `make` makes where all are in use: for a caller to whom a closure or a reference
  /// count costs too much, such as one that is generic over what it returns.
  ///
  /// It is the caller's alone, with its reference count, until `giveBack(_:)`. One in doubt is released instead.
  ///
  /// - Throws: what `make` throws; `StorageError` with the code `closed` after `close()`.
  @inlinable @inline(__always)
  public func take(orMake make: () throws(StorageError) -> Resource) throws(StorageError) -> Unmanaged<Resource> {
    if let idle = takeNearest() { return idle }
    if let idle = try takeAny() { return .passRetained(idle) }
    return .passRetained(try make())
  }

  /// Makes a resource idle that was taken.
  @inlinable @inline(__always)
  public func giveBack(_ resource: Unmanaged<Resource>) {
    let (isGiven, _) = nearest.compareExchange(
      expected: Self.empty, desired: UInt(bitPattern: resource.toOpaque()), successOrdering: .releasing,
      failureOrdering: .relaxed)
    if !isGiven { giveBackBehindLock(resource) }
  }

  /// Lets go of all idle resources: what is used next is made anew.
  public func removeIdle() {
    let idle = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    takeNearest()?.release()
    _ = idle  // Released here, outside the lock.
  }

  /// Lets go of all idle resources, and from now on of each that comes out of use.
  public func close() {
    state.withLock { $0.isClosed = true }
    let last = nearest.exchange(Self.closed, ordering: .acquiring)
    Self.resource(at: last)?.release()
    removeIdle()
  }

  /// Calls `body` with each idle resource. Whoever needs one meanwhile waits: `body` must be short.
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

  @usableFromInline func takeAny() throws(StorageError) -> Resource? {
    let (resource, isClosed) = state.withLock { state in
      // Again, because somebody may have moved it behind the lock meanwhile and put another one in its place.
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
