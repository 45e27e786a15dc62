-- A summary repeats what the messages say that it stands for; those are found, and it is not.
DROP VIEW message_words;
CREATE VIEW message_words AS
    SELECT id, CASE WHEN finish_reason IS 'compression' THEN '' ELSE girdle_words(content) END AS words,
           girdle_call_words(tool_name, tool_calls) AS calls
    FROM messages;
