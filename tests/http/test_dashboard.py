"""The Grafana dashboard asks for nothing that /metrics does not have, and leaves out nothing that it has."""

import json
import re
import unittest

from serve import ROOT, Daemon

DASHBOARD = ROOT / "packaging/grafana-dashboard.json"
SERIES = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ", re.M)
LABEL = re.compile(r'(\w+)="')
# What is in an expression beside metrics: functions, labels, the words of the language.
METRIC = re.compile(r"\b((?:attentiond|process)_\w+)(?:\{([^}]*)\})?")
# What Prometheus adds to each series that it scrapes.
ADDED = {"instance", "job"}


class Dashboard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
        with Daemon() as daemon:
            assert daemon.translate("Hello.").status == 200
            text = daemon.get("/metrics").body.decode()
        cls.labels = {}
        for name, labels in SERIES.findall(text):
            cls.labels.setdefault(name, set()).update(LABEL.findall(labels))
        panels = [panel for panel in cls.dashboard["panels"] if panel["type"] != "row"]
        cls.expressions = [target["expr"] for panel in panels for target in panel["targets"]]

    def test_every_metric_is_there_with_the_labels_that_are_asked_for(self):
        self.assertGreater(len(self.expressions), 20)
        for expression in self.expressions:
            metrics = METRIC.findall(expression)
            self.assertTrue(metrics, expression)
            for name, selector in metrics:
                self.assertIn(name, self.labels, expression)
                asked = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector))
                self.assertLessEqual(asked, self.labels[name] | ADDED, expression)
            for group in re.findall(r"by \(([^)]*)\)", expression):
                self.assertLessEqual(set(group.split(", ")), self.labels[metrics[0][0]] | ADDED, expression)

    def test_legends_name_labels_that_the_expression_keeps(self):
        for panel in self.dashboard["panels"]:
            for target in panel.get("targets", []):
                for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                    grouped = re.search(r"by \(([^)]*)\)", target["expr"])
                    self.assertIn(label, grouped[1].split(", ") if grouped else ADDED, target)

    def test_every_metric_of_ours_is_shown(self):
        shown = {name for expression in self.expressions for name, _ in METRIC.findall(expression)}
        missing = {name for name in self.labels if name not in shown}
        # The parts of what is shown as a quantile.
        self.assertEqual(missing, {"attentiond_http_request_duration_seconds_sum", "attentiond_http_request_duration_seconds_count"})

    def test_variables_ask_for_what_is_there(self):
        for variable in self.dashboard["templating"]["list"]:
            if variable["type"] == "query":
                name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"]).groups()
                self.assertIn(label, self.labels[name] | ADDED)
        used = set(re.findall(r"\$\{?(\w+)\}?", json.dumps(self.dashboard["panels"]))) - {"__rate_interval"}
        self.assertLessEqual(used, {variable["name"] for variable in self.dashboard["templating"]["list"]})

    def test_no_two_panels_lie_on_each_other(self):
        places = [panel["gridPos"] for panel in self.dashboard["panels"]]
        self.assertEqual(len({panel["id"] for panel in self.dashboard["panels"]}), len(places))
        for i, a in enumerate(places):
            self.assertLessEqual(a["x"] + a["w"], 24)
            for b in places[:i]:
                apart = (a["x"] >= b["x"] + b["w"] or b["x"] >= a["x"] + a["w"]
                         or a["y"] >= b["y"] + b["h"] or b["y"] >= a["y"] + a["h"])
                self.assertTrue(apart, (a, b))


if __name__ == "__main__":
    unittest.main()
