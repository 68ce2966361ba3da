internal import CacheBase
internal import EngineAPI

/// A socket that is connected to a server. It never blocks; waiting is a separate call.
struct RedisSocket: ~Copyable {
  private let descriptor: Int32

  /// Connects to `address`, trying all addresses of the host in turn. It blocks, and a lookup of the host's name cannot
  /// be ended early.
  init(_ address: RedisAddress, until deadline: ContinuousClock.Instant) throws(RedisBreak) {
    descriptor = try Self.connected(address, until: deadline)
  }

  deinit { close(descriptor) }

  private static func connected(
    _ address: RedisAddress, until deadline: ContinuousClock.Instant
  ) throws(RedisBreak) -> Int32 {
    if address.isSocket {
      var name = sockaddr_un()
      name.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address.host.utf8.prefix($0.count - 1)) }
      let size = socklen_t(MemoryLayout<sockaddr_un>.size)
      return try withUnsafePointer(to: &name) { name throws(RedisBreak) in
        try connected(AF_UNIX, UnsafeRawPointer(name).assumingMemoryBound(to: sockaddr.self), size, until: deadline)
      }
    }
    var hints = addrinfo()
    hints.ai_socktype = stream
    var list: UnsafeMutablePointer<addrinfo>?
    let result = getaddrinfo(address.host, "\(address.port)", &hints, &list)
    guard result == 0 else { throw RedisBreak(String(cString: gai_strerror(result))) }
    defer { freeaddrinfo(list) }
    var failure = RedisBreak("the host has no address")
    var next = list
    while let info = next?.pointee {
      do throws(RedisBreak) {
        let descriptor = try connected(info.ai_family, info.ai_addr, info.ai_addrlen, until: deadline)
        // Without it a short command would wait for the acknowledgement of the one before.
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
      } catch {
        failure = error
      }
      next = info.ai_next
    }
    throw failure
  }

  /// SOCK_STREAM, whose type differs between systems.
  private static let stream: Int32 = 1

  private static func connected(
    _ family: Int32, _ name: UnsafePointer<sockaddr>, _ size: socklen_t, until deadline: ContinuousClock.Instant
  ) throws(RedisBreak) -> Int32 {
    let descriptor = socket(family, stream, 0)
    guard descriptor >= 0 else { throw .ofSystem }
    do throws(RedisBreak) {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      if connect(descriptor, name, size) == 0 { return descriptor }
      guard errno == EINPROGRESS || errno == EINTR else { throw .ofSystem }
      try wait(for: POLLOUT, on: descriptor, until: deadline)
      var error = Int32(0)
      var size = socklen_t(MemoryLayout<Int32>.size)
      guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 else { throw .ofSystem }
      guard error == 0 else { throw RedisBreak(String(cString: strerror(error))) }
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// Whether the server has ended the connection, even if something has arrived before.
  var hasEnded: Bool { Sockets.hasEnded(descriptor) }

  /// Waits until one of `events` is possible or the connection has ended, for at most `milliseconds`, and returns whether that
  /// is so.
  func isReady(for events: Int32, within milliseconds: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    return poll(&request, 1, milliseconds) > 0
  }

  /// Waits until `event` is possible.
  ///
  /// - Parameter hint: what to do if it is not in time; `nil` to start the server.
  /// - Throws: `RedisBreak` if it is not in time.
  private static func wait(
    for event: Int32, on descriptor: Int32, until deadline: ContinuousClock.Instant, hint: String? = nil
  ) throws(RedisBreak) {
    var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    while true {
      let rest = max(ContinuousClock.now.duration(to: deadline), .zero)
      let count = poll(&request, 1, Int32((rest / .milliseconds(1)).rounded(.up)))
      if count > 0 { return }
      if count == 0 { throw RedisBreak("no reply in time", hint: hint, isSilence: true) }
      if errno != EINTR { throw .ofSystem }
    }
  }

  /// Writes what the socket takes of `bytes` at the moment, and returns how many that are.
  func send(_ bytes: RawSpan) throws(RedisBreak) -> Int {
    while true {
      let count = bytes.withUnsafeBytes { Sockets.send(descriptor, $0) }
      if count >= 0 { return count }
      if errno == EAGAIN { return 0 }
      if errno != EINTR { throw .ofSystem }
    }
  }

  /// Writes all of `bytes`. It blocks.
  func send(_ bytes: [UInt8], until deadline: ContinuousClock.Instant) throws(RedisBreak) {
    var offset = 0
    while offset < bytes.count {
      offset += try send(bytes.span.bytes.extracting(offset...))
      if offset < bytes.count { try Self.wait(for: POLLOUT, on: descriptor, until: deadline) }
    }
  }

  /// Takes the bytes that have arrived, and returns their number.
  func receive(into room: UnsafeMutableRawBufferPointer) throws(RedisBreak) -> Int {
    let count = recv(descriptor, room.baseAddress, room.count, 0)
    if count > 0 { return count }
    if count == 0 { throw RedisBreak("the server has closed the connection") }
    if errno == EAGAIN || errno == EINTR { return 0 }
    throw .ofSystem
  }

  /// Makes `session` with the server. It blocks.
  func shakeHands(_ session: RedisTLSSession, until deadline: ContinuousClock.Instant) throws(RedisBreak) {
    do throws(RedisBreak) {
      while try !session.shakeHands() {
        try send(session.takeOutput(), until: deadline)
        try Self.wait(for: POLLIN, on: descriptor, until: deadline, hint: RedisEncryption.plainHint)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 1)
        defer { room.deallocate() }
        let count = try receive(into: room)
        session.receive(UnsafeRawBufferPointer(rebasing: room[..<count]))
      }
    } catch {
      // Tells the server why.
      try? send(session.takeOutput(), until: deadline)
      throw error
    }
    try send(session.takeOutput(), until: deadline)
  }

  /// Ends the connection, and every wait for it.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
