public import Synchronization

/// Keeps idle resources, such as read transactions, for reuse by any task.
///
/// A resource in use belongs to one caller alone. The pool holds about as many resources as there were concurrent calls.
/// Cost of one use: two atomic exchanges in memory that no other thread writes, no lock and no allocation; up to two more
/// short locks if threads share a slot. It is inlinable because looking up the metadata of unspecialized
/// generics would cost more than a read from memory.
public final class ResourcePool<Resource: AnyObject & Sendable>: Sendable {
  @usableFromInline struct State {
    /// The idle resources that did not fit in `nearest`.
    @usableFromInline var idle: [Resource] = []
    @usableFromInline var isClosed = false

    @usableFromInline init() {}
  }

  @usableFromInline let state = Mutex(State())

  /// For each thread an idle resource with its reference count, as an address: `empty`, or `closed` once the pool is
  /// closed. The thread's next call uses it.
  @usableFromInline let nearest = ThreadSlots()

  @inlinable static var empty: UInt { 0 }
  /// Not a valid address: objects are aligned to more than one byte.
  @inlinable static var closed: UInt { 1 }

  /// An empty pool.
  @inlinable public init() {}

  deinit { for slot in 0..<ThreadSlots.count { take(from: slot)?.release() } }

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
    if let idle = take(from: ThreadSlots.own) { return idle }
    if let idle = try takeAny() { return .passRetained(idle) }
    return .passRetained(try make())
  }

  /// Returns a taken resource to the pool.
  @inlinable @inline(__always)
  public func giveBack(_ resource: Unmanaged<Resource>) {
    let (isGiven, _) = nearest[ThreadSlots.own].compareExchange(
      expected: Self.empty, desired: UInt(bitPattern: resource.toOpaque()), successOrdering: .releasing,
      failureOrdering: .relaxed)
    if !isGiven { giveBackBehindLock(resource) }
  }

  /// Releases all idle resources, and from now on every resource that comes back.
  public func close() {
    for slot in 0..<ThreadSlots.count {
      Self.resource(at: nearest[slot].exchange(Self.closed, ordering: .acquiring))?.release()
    }
    let idle = state.withLock { state in
      defer { state.idle = [] }
      state.isClosed = true
      return state.idle
    }
    _ = idle  // Released here, outside the lock.
  }

  /// Calls `body` with each idle resource. A caller that needs one meanwhile waits, so `body` must be short.
  public func forEachIdle(_ body: (Resource) -> Void) {
    state.withLock { state in
      while let idle = takeFromAnySlot() { state.idle.append(idle.takeRetainedValue()) }
      for resource in state.idle { body(resource) }
    }
  }

  @inlinable @inline(__always)
  func take(from slot: Int) -> Unmanaged<Resource>? {
    let address = nearest[slot].load(ordering: .relaxed)
    guard let resource = Self.resource(at: address) else { return nil }
    let (isTaken, _) = nearest[slot].compareExchange(
      expected: address, desired: Self.empty, successOrdering: .acquiring, failureOrdering: .relaxed)
    return isTaken ? resource : nil
  }

  private func takeFromAnySlot() -> Unmanaged<Resource>? {
    for slot in 0..<ThreadSlots.count {
      if let idle = take(from: slot) { return idle }
    }
    return nil
  }

  /// An idle resource from any place; `nil` if there is none.
  @usableFromInline func takeAny() throws(CacheError) -> Resource? {
    let (resource, isClosed) = state.withLock { state in
      (state.idle.popLast() ?? takeFromAnySlot()?.takeRetainedValue(), state.isClosed)
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
