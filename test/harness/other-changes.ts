/** Routes of /api that change nothing in the admin log, or whose entries other tests find. */

export const changesNothing = new Set([
  // Recorded, but only on the embedded engine: backup.test.ts.
  'POST /api/backup',
  // Recorded: space-archives.test.ts.
  'POST /api/organisations/{id}/spaces/import',
  // Recorded: tool-servers.test.ts.
  'POST /api/spaces/{id}/tools',
  'PUT /api/spaces/{id}/tools/{serverId}',
  'DELETE /api/spaces/{id}/tools/{serverId}',
  // Recorded: semantic-search.test.ts.
  'PUT /api/semantic-search',
  'DELETE /api/semantic-search',
  // Fetches the files of a model; no setting changes.
  'POST /api/semantic-search/local-model',
  'DELETE /api/semantic-search/local-model',
  // Recorded: single-sign-on-setup.test.ts.
  'PUT /api/single-sign-on',
  'POST /api/single-sign-on/test',
  'PUT /api/single-sign-on/active',
  'DELETE /api/single-sign-on/active',
  // Makes a call to the provider, which the ledger records.
  'POST /api/providers/{id}/test',
  // Calls of models, which the ledger records.
  'POST /api/organisations/{id}/chat/completions',
  'POST /api/organisations/{id}/v2/chat/completions',
  'POST /api/spaces/{id}/chat',
  'POST /api/spaces/{id}/golden-questions/proposals',
  // What a person does with own conversations, which nobody else reads.
  'DELETE /api/spaces/{id}/own-chats',
  'PATCH /api/spaces/{id}/own-chats/{chatId}',
  'DELETE /api/spaces/{id}/own-chats/{chatId}',
  'POST /api/spaces/{id}/own-chats/{chatId}/stop',
  // Compare a signature.
  'POST /api/erasures/verify',
  'POST /api/organisations/{id}/erasures/verify',
  // A search, and lists that the provider or a tool server is asked for.
  'POST /api/spaces/{id}/tools/check',
  'POST /api/spaces/{id}/search',
  'POST /api/providers/{id}/discover',
  'POST /api/providers/probe',
  // Messages to where the settings of alerts lead; the list of deliveries has them.
  'POST /api/alerts/test',
  'POST /api/alerts/deliveries/{deliveryId}/resend',
])

/** Changes of documents: documents-session.test.ts and documents-bulk.test.ts find their entries. */
export const documentChanges = new Set([
  'POST /api/spaces/{id}/documents',
  // web-sources.test.ts finds their entries.
  'POST /api/spaces/{id}/sources',
  'POST /api/spaces/{id}/sources/{sourceId}/refresh',
  'DELETE /api/spaces/{id}/sources/{sourceId}',
  'POST /api/spaces/{id}/documents/delete',
  'POST /api/spaces/{id}/documents/retry',
  'POST /api/spaces/{id}/documents/metadata',
  'POST /api/spaces/{id}/documents/operations/{operationId}/stop',
  'PATCH /api/documents/{id}',
  'DELETE /api/documents/{id}',
  'POST /api/documents/{id}/retry',
  // golden-runs.test.ts finds its entry.
  'POST /api/spaces/{id}/golden-runs/{runId}/cancel',
])

/** conversations.test.ts finds their entries; without stored conversations there is nothing to erase. */
export const conversationChanges = new Set([
  // erasures.test.ts finds its entries.
  'POST /api/organisations/{id}/erasures',
  'POST /api/spaces/{id}/conversations/erase',
  'DELETE /api/spaces/{id}/conversations/{conversationId}',
])
