internal import CCurl
internal import FetchVocabulary
internal import HTTPCaching

/// A transfer in libcurl: its handle and callbacks. Only the loop's thread can use it.
final class ActiveTransfer {
  /// The largest total size of header lines in bytes, for all heads and trailers: libcurl's own limit for one head.
  private static let headLimit = 300 * 1024
  /// How much content can arrive before readers are woken.
  private static let batchSize = 256 * 1024

  let transfer: Transfer
  let easy: UnsafeMutableRawPointer
  /// How much content has arrived since readers were last woken.
  private var unannounced = 0
  /// Whether there might be news for readers since they were last woken.
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
    guard let easy = libcurl.curl_easy_init() else { throw .noNetwork("there is no memory") }
    self.transfer = transfer
    self.easy = easy
    lines = RequestLines.make(transfer.request.message)
    limits = settings.limits
    usesProxy = !settings.proxy(for: transfer.request.server).isEmpty
    text.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    let options = CurlOptions(easy: easy)
    try options.configure(transfer.request, settings)
    try options.set(CURLOPT_HTTPHEADER, lines)
    try options.set(CURLOPT_ERRORBUFFER, text)
    try connect(options)
  }

  deinit {
    libcurl.curl_easy_cleanup(easy)
    libcurl.curl_slist_free_all(lines)
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
    return libcurl.curl_easy_pause(easy, 0)
  }

  /// Wakes the readers if there is news for them, unless more is arriving right now: waking them costs more than
  /// receiving a piece. Returns whether waking was put off.
  func wakeReaders() -> Bool {
    guard hasNews else { return false }
    if isGrowing, unannounced < Self.batchSize {
      isGrowing = false
      return true
    }
    hasNews = false
    unannounced = 0
    transfer.wake()
    return false
  }

  /// Ends the transfer with `code`.
  func finish(_ code: CURLcode) {
    var error = failure
    if error == nil, code != CURLE_OK { error = libcurlError(code) }
    if error == nil, !hasHead { error = libcurlError(CURLE_GOT_NOTHING) }
    transfer.finish(error, trailers: reader.trailers)
  }

  /// Sets the callbacks. Only `curl_multi_perform` and `curl_easy_pause` call them, while this object lives.
  private func connect(_ options: CurlOptions) throws(CacheError) {
    let this = Unmanaged.passUnretained(self).toOpaque()
    for option in [CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA] {
      try options.set(option, this)
    }
    try options.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
      Unmanaged<ActiveTransfer>.fromOpaque(this).takeUnretainedValue()
        .receiveLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    try options.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
      Unmanaged<ActiveTransfer>.fromOpaque(this).takeUnretainedValue()
        .receiveContent(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    try options.set(CURLOPT_READFUNCTION) { bytes, size, count, this in
      Unmanaged<ActiveTransfer>.fromOpaque(this).takeUnretainedValue()
        .sendContent(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    }
    try options.setSeek { this, offset, origin in
      let active = Unmanaged<ActiveTransfer>.fromOpaque(this).takeUnretainedValue()
      return offset == 0 && origin == 0 && active.transfer.content.rewind() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
    }
  }

  /// Returns the number of bytes accepted: all, or 0 to make libcurl end the transfer.
  private func receiveLine(_ bytes: UnsafeRawBufferPointer) -> Int {
    headSize += bytes.count
    guard headSize <= Self.headLimit else { return fail(.headTooLarge(of: transfer.request.server.authority)) }
    do throws(HeadReader.Failure) {
      guard let head = try reader.read(bytes) else { return bytes.count }
      if !head.isInterim {
        hasHead = true
        hasNews = true
      }
      transfer.receive(head)
      return bytes.count
    } catch {
      return fail(.invalidMessage(of: transfer.request.server.authority, error.reason))
    }
  }

  private func receiveContent(_ bytes: UnsafeRawBufferPointer) -> Int {
    hasNews = true
    isGrowing = transfer.receive(bytes)
    guard isGrowing else {
      pauses |= CURLPAUSE_RECV
      return Int(CURL_WRITEFUNC_PAUSE)
    }
    unannounced += bytes.count
    return bytes.count
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
    var (time, port) = (0, 0)
    ccurl_get_number(easy, CURLINFO_PRETRANSFER_TIME_T, &time)
    ccurl_get_number(easy, CURLINFO_PRIMARY_PORT, &port)
    let bytes = UnsafeRawBufferPointer(start: text, count: Int(CURL_ERROR_SIZE)).prefix { $0 != 0 }
    return TransferFailure(
      code: code, text: FieldText.decode(Array(bytes)[...]), wasConnected: time > 0, hasHead: hasHead,
      usesProxy: usesProxy, port: port, server: transfer.request.server,
      duration: ContinuousClock.now - transfer.start, limits: limits
    ).error
  }
}
