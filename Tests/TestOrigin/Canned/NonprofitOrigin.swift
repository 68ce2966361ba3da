import Foundation

/// A server in the shape of ProPublica's Nonprofit Explorer, with its quirks and with organizations that are made up.
///
/// It has 25 organizations a page; a search that finds nothing gets the status 404 and an ordinary body; the order is
/// ignored; its tags are weak, and lead to 304. Let `server` override or enqueue responses to make it fail.
public final class NonprofitOrigin: Sendable {
  /// The path of the search.
  public static var path: String { "/nonprofits/api/v2/search.json" }
  /// The header fields of a success, without the tag.
  public static var fields: TestFields {
    [
      "Cache-Control": "public, max-age=86400, s-maxage=31536000, stale-while-revalidate=600, stale-if-error=600",
      "Vary": "Accept,Accept-Encoding,Content-Type",
    ]
  }

  /// The server. It records its requests.
  public let server: TestServer

  /// Starts a server with the given number of organizations.
  ///
  /// - Parameter fields: header fields that replace the default ones.
  /// - Throws: `SystemFailure`.
  public init(organizations: Int = 60, fields: TestFields = [:]) throws {
    server = try TestServer { request in
      guard request.path == Self.path else { return .html(404) }
      let page = OrganizationPage(Int(request.query["page"] ?? "") ?? 0, of: organizations)
      return page.response(to: request).with(fields).validated(for: request)
    }
  }

  /// The URL of the server.
  public var url: String { server.url }
}

/// One page of organizations.
private struct OrganizationPage {
  private static let size = 25
  private static let places: [(city: String?, state: String?)] = [
    ("Portland", "OR"), ("Salem", "Oregon"), ("Toronto", "ZZ"), (nil, "TX"), ("Portland", "OR"), ("Nowhere", nil),
    ("Austin", "TX"),
  ]

  let number: Int
  let total: Int

  /// The page `number` of `total` organizations, or the nearest one with a valid offset.
  init(_ number: Int, of total: Int) {
    self.number = min(max(0, number), Int.max / Self.size)
    self.total = total
  }

  func response(to request: TestRequest) -> TestResponse {
    let text = (try? JSONSerialization.data(withJSONObject: document, options: [.sortedKeys])) ?? Data()
    let fields = NonprofitOrigin.fields.replacing(with: ["ETag": WeakTag.text(text)])
    let response = TestResponse.json(
      String(decoding: text, as: UTF8.self), status: total == 0 ? 404 : 200, fields: total == 0 ? [:] : fields)
    return (request.acceptsGzip ? response.gzipped() : response).chunked()
  }

  private var document: [String: Any] {
    let first = min(number * Self.size, total)
    let indices = first..<min(first + Self.size, total)
    return [
      "total_results": total, "organizations": indices.map(organization),
      "num_pages": (total + Self.size - 1) / Self.size, "cur_page": number, "page_offset": number * Self.size,
      "per_page": Self.size, "search_query": NSNull(), "selected_state": NSNull(), "selected_ntee": NSNull(),
      "selected_code": NSNull(), "data_source": "made up for tests", "api_version": 2,
    ]
  }

  /// An organization. In turn, keys of them are null or missing.
  private func organization(_ index: Int) -> [String: Any] {
    let place = Self.places[index % Self.places.count]
    var members: [String: Any] = [
      "ein": 10_000 + index, "strein": "00-\(1_010_000 + index)", "name": "ORGANISATION NO. \(index)",
      "sub_name": "Organisation No. \(index)", "city": place.city ?? NSNull(), "state": place.state ?? NSNull(),
      "ntee_code": index % 3 == 0 ? NSNull() : "B20", "raw_ntee_code": index % 3 == 1 ? NSNull() : "B20",
      "subseccd": index % 4 == 0 ? NSNull() : 3, "has_subseccd": index % 4 != 0,
      "have_filings": [true, false, NSNull()][index % 3], "have_extracts": NSNull(), "have_pdfs": false,
      "score": 1.5 + Double(index),
    ]
    for name in ["sub_name", "ntee_code", "have_pdfs"] where index % 5 == 4 { members[name] = nil }
    return members
  }
}

/// A weak entity tag (RFC 9110, section 8.8.3).
enum WeakTag {
  /// The tag of content: its FNV-1a hash of 64 bits.
  static func text(_ content: Data) -> String {
    let hash = content.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return "W/\"\(String(hash, radix: 16))\""
  }
}
