"""The shop's order pages, read from its nightly CSV export."""

import csv
from pathlib import Path

from chassis_sdk import ChassisError, Plugin

plugin = Plugin()
EXPORT = Path(__file__).with_name("orders.csv")


@plugin.tool
def fetch_orders(page, ctx):
    with EXPORT.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    pages = max(int(row["page"]) for row in rows)
    if page > pages:
        raise ChassisError("InvalidParams", f"there is no page {page}: the export has {pages}")
    found = [row for row in rows if int(row["page"]) == page]
    ctx.log("info", f"page {page} has {len(found)} orders")
    return {
        "page": page,
        "pages": pages,
        "rows": [{"id": int(row["id"]), "amount": amount(row["amount"])} for row in found],
    }


def amount(text):
    # An amount that is no number is passed on as it stands: the night's mistake.
    try:
        return float(text)
    except ValueError:
        return text


if __name__ == "__main__":
    plugin.run()
