"""`rulegrove demo` writes a page, and opens it unless told not to."""

from rulegrove import demo


def test_demo_writes_a_page(read_json, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(demo, "show_page", lambda page: opened.append(page) or "")
    told = read_json("demo", "-o", tmp_path / "page.html", "--no-open")
    assert told["report"] == str(tmp_path / "page.html")
    assert (tmp_path / "page.html").exists()
    assert 0.0 < told["errors"]["these rules"] < 0.1
    assert opened == []


def test_demo_opens_the_page_and_keeps_quiet(run, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(demo, "show_page", lambda page: opened.append(page) or "")
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--quiet").stdout == ""
    assert opened == [tmp_path / "rulegrove-demo.html"]


def test_a_page_needs_a_folder(refuse, tmp_path):
    refuse("demo", "-o", tmp_path / "no" / "page.html", says="folder")
