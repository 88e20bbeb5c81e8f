/// How the page looks, and how it renews itself.
extension StatusPage {
  static let style = """
    :root{--back:#f4f5f7;--card:#fff;--text:#1b2430;--dim:#5e6b7c;--line:#dfe3e8;--accent:#2563c9;--good:#18794a;--warn:#9a6200;--bad:#c0272d}
    @media(prefers-color-scheme:dark){:root{--back:#12161c;--card:#1b222b;--text:#e6eaf0;--dim:#98a5b5;--line:#2e3844;--accent:#6ea8ff;--good:#4cc38a;--warn:#e0a53a;--bad:#ff7b7b}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--back);color:var(--text);font:14px/1.45 system-ui,sans-serif}
    main{max-width:1640px;margin:0 auto;padding:16px}
    header{display:flex;align-items:center;gap:12px;flex-wrap:wrap}
    h1{font-size:22px;margin:0}
    h2{font-size:16px;margin:0 0 8px;display:flex;align-items:center;gap:6px;flex-wrap:wrap}
    h2 span:first-child{overflow-wrap:anywhere;margin-right:auto}
    #time{margin-left:auto}
    .dim,dt,th{color:var(--dim)}
    .badge{font-size:12px;font-weight:600;border:1px solid var(--line);border-radius:10px;padding:0 8px;white-space:nowrap}
    .good{color:var(--good);border-color:currentColor}.warn{color:var(--warn);border-color:currentColor}.bad{color:var(--bad);border-color:currentColor}
    dl{margin:0;display:grid;gap:8px 16px}
    dt{font-size:12px}dd{margin:0;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
    .sum{grid-template-columns:repeat(auto-fit,minmax(130px,1fr));margin:14px 0;padding:12px 14px;background:var(--card);border:1px solid var(--line);border-radius:8px}
    .facts{grid-template-columns:repeat(auto-fit,minmax(105px,1fr));margin:10px 0}
    .cards{display:grid;gap:14px;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr))}
    .card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:14px;min-width:0}
    .ailing{border-color:var(--bad)}
    .fill{display:flex;align-items:center;gap:10px}
    .fill .dim{white-space:nowrap}
    .bar{flex:1;height:10px;min-width:60px;border-radius:5px;background:var(--line);overflow:hidden}
    .bar i{display:block;height:100%;min-width:2px;background:var(--accent)}.bar .high{background:var(--warn)}.bar .full{background:var(--bad)}
    .chart{display:block;width:100%;height:56px;margin-top:8px;border:1px solid var(--line);border-width:1px 0}
    .chart polygon{fill:var(--accent);opacity:.15}.chart polyline{fill:none;stroke:var(--accent);stroke-width:1.5;vector-effect:non-scaling-stroke}
    .axis{display:flex;justify-content:space-between;font-size:11px}
    table{border-collapse:collapse;width:100%;margin-top:8px;font-variant-numeric:tabular-nums}
    th,td{text-align:right;padding:2px 0 2px 8px;border-bottom:1px solid var(--line);vertical-align:top}
    th{font-size:12px;font-weight:400}
    th:first-child,td:first-child{text-align:left;padding-left:0;overflow-wrap:anywhere}
    tr:last-child td{border-bottom:0}
    code{font:13px ui-monospace,monospace}
    .problems{margin:0 0 12px;padding:8px 12px 8px 28px;border:1px solid var(--bad);border-radius:8px;color:var(--bad);overflow-wrap:anywhere}
    .late #time{color:var(--bad);font-weight:600}

    """

  /// The page's own text again, each second while somebody looks; of an answer that is none the old one stays, marked as late.
  static let script = """
    async function renew() {
      if (!document.hidden) {
        try {
          const answer = await fetch("/", { cache: "no-store", signal: AbortSignal.timeout(5000) });
          if (!answer.ok) throw answer.status;
          const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
          document.querySelector("main").replaceWith(next);
        } catch {
          document.querySelector("main").classList.add("late");
        }
      }
      setTimeout(renew, 1000);
    }
    setTimeout(renew, 1000);

    """
}
