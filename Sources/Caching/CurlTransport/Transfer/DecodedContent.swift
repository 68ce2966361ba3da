internal import FetchVocabulary

/// Content from which one coding is removed while it is read.
actor DecodedContent {
  /// Returns content piece by piece, and `nil` at its end.
  typealias Source = @Sendable () async throws(CacheError) -> [UInt8]?

  private let coding: ContentCoding
  private let server: String
  private let source: Source
  private var decompressor: Decompressor?
  private var input: [UInt8] = []
  private var offset = 0
  private var isSourceAtEnd = false
  private var hasMoreOutput = false
  private var isAtEnd = false

  private init(_ coding: ContentCoding, server: String, source: @escaping Source) {
    self.coding = coding
    self.server = server
    self.source = source
  }

  /// Removes `codings` from the content of `source`. The first of them was applied last. Errors name `server`.
  static func undoing(_ codings: [ContentCoding], server: String, source: @escaping Source) -> Source {
    var decoded = source
    for coding in codings {
      let content = DecodedContent(coding, server: server, source: decoded)
      decoded = { () async throws(CacheError) in try await content.next() }
    }
    return decoded
  }

  /// The next piece, at most 64 KiB; `nil` at the end. Ignores anything after the end of gzip or deflate data.
  ///
  /// - Throws: `CacheError`: what the source throws; `invalidAnswer` if the content does not match its coding, or is
  ///   cut off.
  private func next() async throws(CacheError) -> [UInt8]? {
    while !isAtEnd {
      // After a full piece there may be more output from the input already read.
      if !hasMoreOutput, input.count - offset < 2, !isSourceAtEnd { try await read() }
      let step = try step()
      hasMoreOutput = step.output.count == Decompressor.pieceSize
      offset += step.used
      if step.isAtEnd {
        try await end()
      } else if step.used == 0, step.output.isEmpty, isSourceAtEnd {
        throw damage
      }
      if !step.output.isEmpty { return step.output }
    }
    return nil
  }

  private func step() throws(CacheError) -> Decompressor.Step {
    do throws(Decompressor.Damage) {
      if decompressor == nil { decompressor = try Decompressor(coding, start: input[offset...]) }
      if let step = try decompressor?.step(input, from: offset) { return step }
    } catch {}
    throw damage
  }

  /// Reads until there are at least two bytes of input, or the source ends.
  private func read() async throws(CacheError) {
    while input.count - offset < 2, !isSourceAtEnd {
      if let more = try await source() {
        input = input[offset...] + more
        offset = 0
      } else {
        isSourceAtEnd = true
      }
    }
  }

  /// Checks whether more data follows after a complete part, as gzip and Zstandard allow.
  private func end() async throws(CacheError) {
    try await read()
    let rest = input[offset...]
    isAtEnd =
      switch coding {
      case .gzip: !rest.starts(with: [0x1F, 0x8B])
      case .deflate: true
      case .zstd: rest.isEmpty
      }
  }

  private var damage: CacheError {
    CacheError(
      .invalidAnswer, "the answer of \(server) is not compressed in the way that it says",
      hint: "fetch it again, or take it as it came")
  }
}
