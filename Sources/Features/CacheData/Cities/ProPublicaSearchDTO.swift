internal import CacheDomain

/// A page of organisations, as ProPublica's search returns it. Any key may be missing; the organisations only if there
/// are none.
struct ProPublicaSearchDTO: Sendable {
  struct Organization: Sendable {
    let city: String?
    let state: String?

    fileprivate init(_ json: AnswerValue) throws(AnswerValue.Mistake) {
      city = try json.optionalMember("city")?.text
      state = try json.optionalMember("state")?.text
    }
  }

  let organizations: [Organization]
  let totalResults: Int?
  private let pages: Int?
  private let pageOffset: Int?
  private let perPage: Int?

  init(_ json: AnswerValue) throws(AnswerValue.Mistake) {
    totalResults = try json.optionalMember("total_results")?.count
    pages = try json.optionalMember("num_pages")?.count
    pageOffset = try json.optionalMember("page_offset")?.count
    perPage = try json.optionalMember("per_page")?.count
    let name = "organizations"
    let list = totalResults == 0 ? try json.optionalMember(name) : try json.member(name)
    organizations = try list?.elements.map { element throws(AnswerValue.Mistake) in try Organization(element) } ?? []
  }

  /// Page `number`, from 0, of the cities of these organisations.
  func page(_ number: Int) -> CitiesPage {
    let total = totalResults ?? (pageOffset ?? 0).addingSaturated(organizations.count)
    return CitiesPage(page: number, totalPages: totalPages(of: total), totalItems: total, cities: cities)
  }

  /// The number of pages. The page size comes from the answer, because the server has changed it before.
  private func totalPages(of total: Int) -> Int {
    if let pages { return pages }
    guard total > 0 else { return 0 }
    let size = [perPage ?? 0, organizations.count, 1].first { $0 > 0 } ?? 1
    return (total - 1) / size + 1
  }

  /// The cities, in order of their first organisations. Skips organisations without a city.
  private var cities: [City] {
    var places: [Place] = []
    var counts: [Place: Int] = [:]
    for place in organizations.compactMap(Place.init) {
      if counts[place] == nil { places.append(place) }
      counts[place, default: 0] += 1
    }
    return places.map { $0.city(organizationCount: counts[$0] ?? 0) }
  }

  /// A city in a state. The state is what the server writes: usually two letters, but also a name, or "ZZ" for abroad.
  private struct Place: Hashable {
    let name: String
    let state: String?

    init?(_ organization: Organization) {
      guard let name = organization.city.flatMap(Self.trimmed) else { return nil }
      self.name = name
      state = organization.state.flatMap(Self.trimmed)
    }

    func city(organizationCount: Int) -> City {
      City(
        id: "\(state ?? "")/\(name)", name: name, subName: state, revenue: nil, organizationCount: organizationCount)
    }

    /// `text` with single spaces between words; `nil` if it has no words.
    private static func trimmed(_ text: String) -> String? {
      let words = text.split(whereSeparator: \.isWhitespace)
      return words.isEmpty ? nil : words.joined(separator: " ")
    }
  }
}

extension Int {
  fileprivate func addingSaturated(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
