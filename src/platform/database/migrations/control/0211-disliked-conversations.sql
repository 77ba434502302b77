-- Conversations with a rating that is not helpful.
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversations_disliked ON conversations (store_id, last_at DESC, id DESC) WHERE disliked > 0;
