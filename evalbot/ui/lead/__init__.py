"""The leads' app: campaigns, adjudication, chat, runs, results and speed, a file each."""
