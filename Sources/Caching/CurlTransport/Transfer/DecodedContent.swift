internal import FetchVocabulary
internal import HTTPCaching
internal import Synchronization

/// Content from which one coding is removed while it is read.
actor DecodedContent {
  private let coding: ContentCoding
  private let server: String
  private let source: StreamedContent.Source
  private var decompressor: Decompressor?
  private var input: [UInt8] = []
  private var offset = 0
  private var isSourceAtEnd = false
  private var hasMoreOutput = false
  private var isPartComplete = false

  private init(_ coding: ContentCoding, server: String, source: @escaping StreamedContent.Source) {
    self.coding = coding
    self.server = server
    self.source = source
  }

  /// The content of `response` to `request` without `codings`, of which the first was applied last.
  static func pieces(
    of response: HTTP.Response, without codings: [ContentCoding], to request: HTTP.Request
  ) -> StreamedContent.Source {
    let server = request.authority ?? "the server"
    let start = Mutex(response.body.isEmpty ? nil : response.body)
    var decoded: StreamedContent.Source = { [rest = response.rest] () async throws(CacheError) in
      if let start = start.withLock({ $0.take() }) { return start }
      return try await rest?.next()
    }
    for coding in codings {
      let content = DecodedContent(coding, server: server, source: decoded)
      decoded = { () async throws(CacheError) in try await content.next() }
    }
    return decoded
  }

  /// The next piece, at most 64 KiB; `nil` at the end of the source. Ignores anything after the end of gzip or deflate
  /// data.
  ///
  /// - Throws: `CacheError`: what the source throws; `invalidAnswer` if the content does not match its coding, or is
  ///   cut off.
  private func next() async throws(CacheError) -> [UInt8]? {
    while true {
      if isPartComplete, try await isComplete() { return nil }
      // After a full piece there might be more output from the input already read.
      if !hasMoreOutput { try await read(decompressor == nil ? 2 : 1) }
      let step = try step()
      hasMoreOutput = step.output.count == Decompressor.pieceSize
      offset += step.used
      isPartComplete = step.isAtEnd
      if !isPartComplete, step.used == 0, step.output.isEmpty, isSourceAtEnd { throw damage }
      if !step.output.isEmpty { return step.output }
    }
  }

  private func step() throws(CacheError) -> Decompressor.Step {
    do throws(Decompressor.Damage) {
      if decompressor == nil { decompressor = try Decompressor(coding, start: input[offset...]) }
      if let step = try decompressor?.step(input, from: offset) { return step }
    } catch {}
    throw damage
  }

  /// Reads until there are at least `count` bytes of input, or the source ends.
  private func read(_ count: Int) async throws(CacheError) {
    while input.count - offset < count, !isSourceAtEnd {
      if let more = try await source() {
        input = input[offset...] + more
        offset = 0
      } else {
        isSourceAtEnd = true
      }
    }
  }

  /// Whether no further part follows a complete one, as gzip and Zstandard allow. Then reads the source to its end: it
  /// might be waiting for that.
  private func isComplete() async throws(CacheError) -> Bool {
    try await read(2)
    let rest = input[offset...]
    let isMore =
      switch coding {
      case .gzip: rest.starts(with: [0x1F, 0x8B])
      case .deflate: false
      case .zstd: !rest.isEmpty
      }
    while !isMore, !isSourceAtEnd { isSourceAtEnd = try await source() == nil }
    return !isMore
  }

  private var damage: CacheError {
    CacheError(
      .invalidAnswer, "the response of \(server) is not compressed as its header says",
      hint: "fetch it again, or without decoding")
  }
}
