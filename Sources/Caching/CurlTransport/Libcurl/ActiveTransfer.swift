internal import CCurl
internal import FetchVocabulary
internal import HTTPCaching

/// A transfer in libcurl: its handle and callbacks. Only the loop's thread may use it.
final class ActiveTransfer {
  /// The largest total size of header lines in bytes, for all heads and trailers: libcurl's own limit for one head.
  private static let headLimit = 300 * 1024
  /// How much content to collect at most before readers are woken.
  private static let batchSize = 256 * 1024

  let transfer: Transfer
  let easy: UnsafeMutableRawPointer
  /// Content not yet handed over: libcurl delivers it in pieces of at most 16 KiB.
  private var gathered: [UInt8] = []
  /// How much content has been handed over since readers were last woken.
  private var unannounced = 0
  /// Whether there may be news for readers since they were last woken.
  private var hasNews = false
  /// Whether content has arrived since the last check.
  private var isGrowing = false
  private let lines: UnsafeMutablePointer<curl_slist>?
  private let text = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  private var reader = HeadReader()
  private var headSize = 0
  private var hasHead = false
  private let usesProxy: Bool
  private let limits: TransferLimits
  /// The error with which our side ended the transfer.
  private var failure: CacheError?
  private var pauses: Int32 = 0

  init(_ transfer: Transfer, _ settings: NetworkSettings) throws(CacheError) {
    guard let easy = ccurl_easy_init() else { throw .noNetwork("there is no memory") }
    self.transfer = transfer
    self.easy = easy
    lines = RequestLines.make(transfer.request)
    limits = settings.limits
    usesProxy = !settings.proxy(for: transfer.request.server).isEmpty
    text.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    let setter = EasySetter(easy)
    setter.configure(transfer.request, settings)
    setter.set(CURLOPT_HTTPHEADER, lines)
    setter.set(CURLOPT_ERRORBUFFER, text)
    connect(setter)
    if let failed = setter.failed {
      throw .noNetwork("libcurl does not take the option \(failed.option): \(failed.reason)")
    }
  }

  deinit {
    ccurl_easy_cleanup(easy)
    ccurl_slist_free_all(lines)
    text.deallocate()
  }

  /// The transfer that the handle `easy` belongs to.
  static func of(_ easy: UnsafeMutableRawPointer) -> ActiveTransfer? {
    var pointer: UnsafeMutableRawPointer?
    ccurl_get_pointer(easy, CURLINFO_PRIVATE, &pointer)
    return pointer.map { Unmanaged<ActiveTransfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Continues reading and sending, if either was paused. Returns an error if that made the transfer fail.
  func resume() -> CURLcode {
    hasNews = true
    guard pauses != 0 else { return CURLE_OK }
    pauses = 0
    return ccurl_easy_pause(easy, 0)
  }

  /// Wakes the readers if there is news for them, unless more is arriving right now: waking them costs more than
  /// receiving a piece. Returns whether waking was put off.
  func wakeReaders() -> Bool {
    guard hasNews else { return false }
    if isGrowing, unannounced < Self.batchSize {
      isGrowing = false
      return true
    }
    _ = handOver()
    (hasNews, unannounced) = (false, 0)
    transfer.wake()
    return false
  }

  /// Ends the transfer with `code`.
  func finish(_ code: CURLcode) {
    var error = failure
    if error == nil, code != CURLE_OK { error = libcurlError(code) }
    if error == nil, !hasHead { error = libcurlError(CURLE_GOT_NOTHING) }
    transfer.finish(gathered, trailers: reader.trailers, error)
  }

  /// Sets the callbacks. Only `curl_multi_perform` and `curl_easy_pause` call them, while this object lives.
  private func connect(_ setter: EasySetter) {
    let this = Unmanaged.passUnretained(self).toOpaque()
    for option in [CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA] {
      setter.set(option, this)
    }
    setter.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
      Unmanaged<ActiveTransfer>.fromOpaque(this).takeUnretainedValue()
        .receiveLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    setter.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
      Unmanaged<ActiveTransfer>.fromOpaque(this).takeUnretainedValue()
        .receiveContent(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    setter.set(CURLOPT_READFUNCTION) { bytes, size, count, this in
      Unmanaged<ActiveTransfer>.fromOpaque(this).takeUnretainedValue()
        .sendContent(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    }
    setter.setSeek { this, offset, origin in
      let active = Unmanaged<ActiveTransfer>.fromOpaque(this).takeUnretainedValue()
      return offset == 0 && origin == 0 && active.transfer.content.rewind() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
    }
  }

  /// Returns the number of bytes accepted: all, or 0 to make libcurl end the transfer.
  private func receiveLine(_ bytes: UnsafeRawBufferPointer) -> Int {
    headSize += bytes.count
    guard headSize <= Self.headLimit else { return fail(.headTooLarge(of: transfer.request.server.authority)) }
    do throws(HeadReader.Failure) {
      switch try reader.read(bytes) {
      case .incomplete: break
      case .interim(let head): transfer.receive(interim: head)
      case .final(let head):
        (hasHead, hasNews) = (true, true)
        transfer.receive(head)
      }
      return bytes.count
    } catch {
      return fail(.invalidMessage(of: transfer.request.server.authority, error.reason))
    }
  }

  private func receiveContent(_ bytes: UnsafeRawBufferPointer) -> Int {
    hasNews = true
    if gathered.count + bytes.count > ByteQueue.pieceSize, !handOver() {
      isGrowing = false
      pauses |= CURLPAUSE_RECV
      return Int(CURL_WRITEFUNC_PAUSE)
    }
    if gathered.isEmpty { gathered.reserveCapacity(max(bytes.count, ByteQueue.pieceSize)) }
    gathered.append(contentsOf: bytes)
    isGrowing = true
    return bytes.count
  }

  /// Hands over the collected content. Returns `false` if so much is waiting for the reader that it must stay here.
  private func handOver() -> Bool {
    if gathered.isEmpty { return true }
    guard transfer.receive(gathered) else { return false }
    unannounced += gathered.count
    gathered = []
    return true
  }

  private func sendContent(_ target: UnsafeMutableRawBufferPointer) -> Int {
    switch transfer.content.take(target) {
    case .bytes(let count): return count
    case .end: return 0
    case .later:
      pauses |= CURLPAUSE_SEND
      return Int(CURL_READFUNC_PAUSE)
    }
  }

  private func fail(_ error: CacheError) -> Int {
    failure = error
    return 0
  }

  private func libcurlError(_ code: CURLcode) -> CacheError {
    var (time, port) = (curl_off_t(), Int())
    ccurl_get_offset(easy, CURLINFO_PRETRANSFER_TIME_T, &time)
    ccurl_get_long(easy, CURLINFO_PRIMARY_PORT, &port)
    let bytes = UnsafeRawBufferPointer(start: text, count: Int(CURL_ERROR_SIZE)).prefix { $0 != 0 }
    return TransferFailure(
      code: code, text: FieldText.decode(Array(bytes)[...]), wasConnected: time > 0, hasHead: hasHead,
      usesProxy: usesProxy, port: port, server: transfer.request.server,
      duration: ContinuousClock.now - transfer.start, limits: limits
    ).error
  }
}
