import SharedTable
import StatusServer
import TableMetrics
import TableStore
import ToolSupport

/// The page for people at `/`: one HTML document with all that it needs.
///
/// It is whole without its script, which fetches it anew each second and puts its `main` in place of the old one: the page
/// has one renderer, and text of strangers is escaped in one place.
enum StatusPage {
  /// - Parameter now: when it is asked for, by CLOCK_MONOTONIC: the health is that of this moment.
  static func page(_ sample: HostSample, now: UInt64) -> Page {
    let nonce = String(UInt64.random(in: .min ... .max), radix: 36)
    var page = Page(
      contentType: "text/html; charset=utf-8", Array(document(sample, nonce, HealthReport(sample, now: now)).utf8))
    page.securityPolicy =
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-\(nonce)'; connect-src 'self'; "
      + "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return page
  }

  static func document(_ sample: HostSample, _ nonce: String, _ health: HealthReport) -> String {
    """
    <!DOCTYPE html>
    <html lang="en"><head><meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>shmd</title>
    <link rel="icon" href="data:,">
    <style>
    \(style)</style></head><body>
    \(main(sample, health))
    <script nonce="\(nonce)">
    \(script)</script>
    </body></html>

    """
  }

  static func main(_ sample: HostSample, _ health: HealthReport) -> String {
    let stores = Dictionary(uniqueKeysWithValues: sample.stores.map { ($0.table, $0.status) })
    let cards = sample.tables.map { StatusCard($0, stores[$0.name], sample.history).html }
    let time = ServiceLog.timestamp(sample.wallNanoseconds).prefix(19).replacing("T", with: " ") + " UTC"
    return """
      <main>
      <header><h1>shmd</h1>\(verdict(health))<span class="dim" id="time">\(time)</span></header>
      \(summary(sample))
      \(problems(health))<div class="cards">
      \(cards.joined(separator: "\n"))
      </div>
      </main>
      """
  }

  private static func verdict(_ health: HealthReport) -> String {
    let count = health.reasons.count
    return count == 0
      ? "<span class=\"badge good\">in order</span>"
      : "<span class=\"badge bad\">\(count) \(count == 1 ? "problem" : "problems")</span>"
  }

  private static func summary(_ sample: HostSample) -> String {
    let counters = sample.counters
    let used = sample.tables.reduce(0) { $0 &+ $1.statistics.claimedBytes }
    let rate = sample.tables.reduce(0) { $0 + sample.history.commitRate(of: $1.name) }
    let processes = Set(sample.tables.flatMap { $0.figures.processes.map(\.pid) }).count
    let figures: [(String, String)] = [
      ("tables", "\(sample.tables.count)"), ("in /dev/shm", Quantity.bytes(used)),
      ("commits/s", Quantity.rate(rate)), ("processes", "\(processes)"),
      ("expired keys removed", Quantity.number(counters.expiredKeys)),
      ("recoveries", Quantity.number(counters.recoveries)),
      ("dead participants", Quantity.number(counters.deadParticipants)),
      ("reloads", "\(counters.reloads)" + (counters.refusedReloads == 0 ? "" : ", \(counters.refusedReloads) refused")),
    ]
    return "<dl class=\"sum\">" + figures.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" }.joined() + "</dl>"
  }

  private static func problems(_ health: HealthReport) -> String {
    if health.reasons.isEmpty { return "" }
    return "<ul class=\"problems\">" + health.reasons.map { "<li>\($0.html)</li>" }.joined() + "</ul>\n"
  }
}
