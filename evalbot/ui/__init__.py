"""The web page: one server with a sign-in page and two Gradio apps, reviewers' and leads'."""
