import { expect } from 'vitest'
import { testPassword } from './people.ts'
import type { ApiAnswer } from './portico.ts'

/**
 * Every change that /api offers, and its entry in the admin log. A changing route of the OpenAPI document that is missing here and in
 * other-changes.ts fails the test.
 */

/** Ids that earlier changes have made. */
export type Ids = Record<
  | 'organisation'
  | 'space'
  | 'question'
  | 'run'
  | 'member'
  | 'invitation'
  | 'operatorInvitation'
  | 'price'
  | 'session'
  | 'reset'
  | 'listed',
  string
>

interface Change {
  route: string
  path: (ids: Ids) => string
  body?: (ids: Ids) => unknown
  /** Default: a person who is an operator. */
  by?: 'visitor' | 'member'
  keep?: (body: ApiAnswer['body'], ids: Ids) => void
  /** null: the action has no values there. */
  entry: { action: string; before: object | null; after: object | null }
}

export const organisation = ({ organisation: id }: Ids) => `/api/organisations/${id}`
const space = ({ space: id }: Ids) => `/api/spaces/${id}`
const deployment = () => '/api/deployments/added%2Fmodel'

/** In the order in which they are made. */
export const adminChanges: Change[] = [
  {
    route: 'PATCH /api/alerts/settings',
    path: () => '/api/alerts/settings',
    body: () => ({ recipients: ['ops@example.org'] }),
    entry: {
      action: 'alert_settings.updated',
      before: { recipients: [] },
      after: { recipients: ['ops@example.org'] },
    },
  },
  {
    route: 'PUT /api/alerts/webhook',
    path: () => '/api/alerts/webhook',
    body: () => ({ url: 'https://hooks.example/secret-path' }),
    entry: { action: 'alert_settings.updated', before: null, after: { origin: 'https://hooks.example' } },
  },
  {
    route: 'DELETE /api/alerts/webhook',
    path: () => '/api/alerts/webhook',
    entry: { action: 'alert_settings.updated', before: { origin: 'https://hooks.example' }, after: null },
  },
  {
    route: 'POST /api/organisations',
    path: () => '/api/organisations',
    body: () => ({ name: 'Acme', plan: 'team', monthlyBudgetUsd: '25' }),
    keep: ({ id }, ids) => (ids.organisation = id),
    entry: { action: 'organisation.created', before: null, after: { name: 'Acme', monthlyBudgetUsd: '25' } },
  },
  {
    route: 'PATCH /api/organisations/{id}',
    path: organisation,
    body: () => ({ plan: 'enterprise', monthlyBudgetUsd: '50', gatewayEnabled: true }),
    entry: {
      action: 'organisation.updated',
      before: { plan: 'team', monthlyBudgetUsd: '25', gatewayEnabled: false },
      after: { plan: 'enterprise', monthlyBudgetUsd: '50', gatewayEnabled: true },
    },
  },
  {
    route: 'PUT /api/organisations/{id}/opt-in',
    path: (ids) => `${organisation(ids)}/opt-in`,
    body: () => ({ optIn: true }),
    entry: { action: 'organisation.updated', before: { gatewayOptIn: false }, after: { gatewayOptIn: true } },
  },
  {
    route: 'POST /api/organisations/{id}/api-key',
    path: (ids) => `${organisation(ids)}/api-key`,
    entry: { action: 'api_key.created', before: null, after: { prefix: expect.stringMatching(/^ptc_/) } },
  },
  {
    route: 'PUT /api/organisations/{id}/webhook',
    path: (ids) => `${organisation(ids)}/webhook`,
    body: () => ({ url: 'https://hooks.example/secret-path', secret: 'a secret of the webhook' }),
    entry: {
      action: 'webhook.set',
      before: { webhookOrigin: null },
      after: { webhookOrigin: 'https://hooks.example', addressChanged: true, secretChanged: true },
    },
  },
  {
    route: 'DELETE /api/organisations/{id}/webhook',
    path: (ids) => `${organisation(ids)}/webhook`,
    entry: {
      action: 'webhook.removed',
      before: { webhookOrigin: 'https://hooks.example' },
      after: { webhookOrigin: null },
    },
  },
  {
    route: 'POST /api/organisations/{id}/invitations',
    path: (ids) => `${organisation(ids)}/invitations`,
    body: () => ({ email: 'lost@example.org', role: 'member' }),
    keep: ({ id }, ids) => (ids.invitation = id),
    entry: { action: 'invitation.created', before: null, after: { email: 'lost@example.org', role: 'member' } },
  },
  {
    route: 'DELETE /api/organisations/{id}/invitations/{invitationId}',
    path: (ids) => `${organisation(ids)}/invitations/${ids.invitation}`,
    entry: { action: 'invitation.removed', before: { email: 'lost@example.org', role: 'member' }, after: null },
  },
  {
    route: 'POST /api/invitations/{token}/accept',
    path: ({ invitation }) => `/api/invitations/${invitation}/accept`,
    body: () => ({ name: 'Mia', password: testPassword }),
    by: 'visitor',
    entry: { action: 'member.added', before: null, after: { role: 'member', email: 'mia@example.org' } },
  },
  {
    route: 'PATCH /api/organisations/{id}/members/{personId}',
    path: (ids) => `${organisation(ids)}/members/${ids.member}`,
    body: () => ({ role: 'administrator' }),
    entry: { action: 'member.updated', before: { role: 'member' }, after: { role: 'administrator' } },
  },
  {
    route: 'DELETE /api/organisations/{id}/members/{personId}',
    path: (ids) => `${organisation(ids)}/members/${ids.member}`,
    entry: { action: 'member.removed', before: { role: 'administrator', email: 'mia@example.org' }, after: null },
  },
  {
    route: 'PATCH /api/people/{id}',
    path: ({ member }) => `/api/people/${member}`,
    body: () => ({ isOperator: true, acceptUnverifiedEmail: true }),
    entry: { action: 'person.updated', before: { isOperator: false }, after: { isOperator: true } },
  },
  {
    route: 'DELETE /api/me/sessions/{id}',
    path: ({ session }) => `/api/me/sessions/${session}`,
    by: 'member',
    entry: { action: 'person.session_ended', before: { sessionId: expect.any(String) }, after: null },
  },
  {
    route: 'PATCH /api/me',
    path: () => '/api/me',
    body: () => ({ name: 'Mia Maria' }),
    by: 'member',
    entry: { action: 'person.updated', before: { name: 'Mia' }, after: { name: 'Mia Maria' } },
  },
  {
    route: 'POST /api/people/{id}/password-reset',
    path: ({ member }) => `/api/people/${member}/password-reset`,
    body: () => ({}),
    keep: ({ token }, ids) => (ids.reset = token),
    entry: { action: 'person.password_reset_created', before: null, after: { removesSecondFactor: false } },
  },
  {
    route: 'POST /api/password-resets/{token}',
    path: ({ reset }) => `/api/password-resets/${reset}`,
    body: () => ({ password: testPassword }),
    by: 'visitor',
    entry: { action: 'person.password_reset', before: null, after: { removesSecondFactor: false } },
  },
  {
    route: 'DELETE /api/people/{id}',
    path: ({ member }) => `/api/people/${member}`,
    entry: { action: 'person.removed', before: { email: 'mia@example.org', name: 'Mia Maria' }, after: null },
  },
  {
    route: 'POST /api/operator-invitations',
    path: () => '/api/operator-invitations',
    body: () => ({ email: 'ops@example.org' }),
    keep: ({ id }, ids) => (ids.operatorInvitation = id),
    entry: { action: 'invitation.created', before: null, after: { email: 'ops@example.org', role: 'operator' } },
  },
  {
    route: 'DELETE /api/operator-invitations/{id}',
    path: ({ operatorInvitation }) => `/api/operator-invitations/${operatorInvitation}`,
    entry: { action: 'invitation.removed', before: { email: 'ops@example.org', role: 'operator' }, after: null },
  },
  {
    route: 'POST /api/spaces',
    path: () => '/api/spaces',
    body: (ids) => ({ organisationId: ids.organisation, name: 'Manuals', model: 'portico/offline' }),
    keep: ({ id }, ids) => (ids.space = id),
    entry: { action: 'space.created', before: null, after: { name: 'Manuals', published: false } },
  },
  {
    route: 'PATCH /api/spaces/{id}',
    path: space,
    body: () => ({ name: 'Handbooks' }),
    entry: { action: 'space.updated', before: { name: 'Manuals' }, after: { name: 'Handbooks' } },
  },
  {
    route: 'POST /api/spaces/{id}/publish',
    path: (ids) => `${space(ids)}/publish`,
    entry: {
      action: 'space.published',
      before: { published: false, endpointId: null },
      after: { published: true, endpointId: expect.any(String) },
    },
  },
  {
    route: 'POST /api/spaces/{id}/unpublish',
    path: (ids) => `${space(ids)}/unpublish`,
    entry: { action: 'space.unpublished', before: { published: true }, after: { published: false } },
  },
  {
    route: 'POST /api/spaces/{id}/golden-questions',
    path: (ids) => `${space(ids)}/golden-questions`,
    body: () => ({ messages: [{ role: 'user', content: 'Why?' }], expectedFacts: ['Because.'] }),
    keep: ({ id }, ids) => (ids.question = id),
    entry: {
      action: 'golden_question.created',
      before: null,
      after: { questionCharacters: 4, messages: 1, expectedDocuments: 0, expectedFacts: 1, mustAbstain: false },
    },
  },
  {
    route: 'POST /api/spaces/{id}/golden-questions/import',
    path: (ids) => `${space(ids)}/golden-questions/import`,
    body: () => ({ questions: ['Why?', 'How?'].map((content) => ({ messages: [{ role: 'user', content }] })) }),
    entry: { action: 'golden_questions.imported', before: null, after: { added: 1, existing: 1 } },
  },
  {
    route: 'PATCH /api/spaces/{id}/golden-questions/{questionId}',
    path: (ids) => `${space(ids)}/golden-questions/${ids.question}`,
    body: () => ({ expectedFacts: [], mustAbstain: true }),
    entry: {
      action: 'golden_question.updated',
      before: { expectedFacts: 1, mustAbstain: false },
      after: { expectedFacts: 0, mustAbstain: true },
    },
  },
  {
    route: 'POST /api/spaces/{id}/golden-runs',
    path: (ids) => `${space(ids)}/golden-runs`,
    keep: ({ id }, ids) => (ids.run = id),
    entry: {
      action: 'golden_run.started',
      before: null,
      after: { trigger: 'manual', questions: 2, model: 'portico/offline' },
    },
  },
  {
    route: 'DELETE /api/spaces/{id}/golden-questions/{questionId}',
    path: (ids) => `${space(ids)}/golden-questions/${ids.question}`,
    entry: { action: 'golden_question.removed', before: { questionCharacters: 4 }, after: null },
  },
  {
    route: 'PATCH /api/spaces/{id}/golden-questions/settings',
    path: (ids) => `${space(ids)}/golden-questions/settings`,
    body: () => ({ agentic: true }),
    entry: { action: 'golden_settings.updated', before: { agentic: false }, after: { agentic: true } },
  },
  {
    route: 'PUT /api/spaces/{id}/site',
    path: (ids) => `${space(ids)}/site`,
    body: () => ({ enabled: true, name: 'handbooks', title: 'Handbooks', dailyCapUsd: '1' }),
    entry: { action: 'site.updated', before: null, after: { enabled: true, name: 'handbooks', access: 'everyone' } },
  },
  {
    route: 'POST /api/spaces/{id}/site/pause',
    path: (ids) => `${space(ids)}/site/pause`,
    entry: { action: 'site.paused', before: { paused: false }, after: { paused: true } },
  },
  {
    route: 'POST /api/spaces/{id}/site/resume',
    path: (ids) => `${space(ids)}/site/resume`,
    entry: { action: 'site.resumed', before: { paused: true }, after: { paused: false } },
  },
  {
    route: 'DELETE /api/spaces/{id}',
    path: space,
    entry: { action: 'space.removed', before: { name: 'Handbooks' }, after: null },
  },
  {
    route: 'PUT /api/providers/{id}',
    path: () => '/api/providers/added',
    body: () => ({ format: 'openai', baseUrl: 'https://models.example/v1', apiKey: 'sk-a-secret-of-ours-WXYZ' }),
    entry: { action: 'provider.created', before: null, after: { enabled: true, apiKeyLastFour: 'WXYZ' } },
  },
  {
    route: 'PATCH /api/providers/{id}',
    path: () => '/api/providers/added',
    body: () => ({ baseUrl: 'https://other.example/v1', apiKey: 'sk-a-secret-of-ours-WXYZ' }),
    entry: {
      action: 'provider.updated',
      before: { baseUrl: 'https://models.example/v1' },
      after: { baseUrl: 'https://other.example/v1' },
    },
  },
  {
    route: 'PUT /api/models/{id}',
    path: () => '/api/models/added%2Fmodel',
    body: () => ({ tier: 'base' }),
    entry: { action: 'model.created', before: null, after: { tier: 'base' } },
  },
  {
    route: 'PATCH /api/models/{id}',
    path: () => '/api/models/added%2Fmodel',
    body: () => ({ tier: 'premium' }),
    entry: { action: 'model.updated', before: { tier: 'base' }, after: { tier: 'premium' } },
  },
  {
    route: 'PUT /api/deployments/{id}',
    path: deployment,
    body: () => ({ model: 'added/model', provider: 'added' }),
    entry: { action: 'deployment.created', before: null, after: { model: 'added/model', provider: 'added' } },
  },
  {
    route: 'PATCH /api/deployments/{id}',
    path: deployment,
    body: () => ({ weight: 3 }),
    entry: { action: 'deployment.updated', before: { weight: null }, after: { weight: 3 } },
  },
  {
    route: 'POST /api/providers/{id}/deployments',
    path: () => '/api/providers/added/deployments',
    body: () => ({
      deployments: [{ wireId: 'listed', model: 'added/listed', kind: 'chat', prices: { input: '1', output: '2' } }],
    }),
    keep: ({ data }, ids) => (ids.listed = data[0].id),
    entry: { action: 'deployment.created', before: null, after: { model: 'added/listed', provider: 'added' } },
  },
  {
    route: 'DELETE /api/deployments/{id}',
    path: ({ listed }) => `/api/deployments/${encodeURIComponent(listed)}`,
    entry: { action: 'deployment.removed', before: { model: 'added/listed' }, after: null },
  },
  {
    route: 'POST /api/deployments/{id}/prices',
    path: () => `${deployment()}/prices`,
    body: () => ({ input: '1', output: '2', validFrom: new Date(Date.now() + 86_400_000).toISOString() }),
    keep: ({ id }, ids) => (ids.price = id),
    entry: { action: 'price.created', before: null, after: { input: '1', output: '2' } },
  },
  {
    route: 'DELETE /api/deployments/{id}/prices/{priceId}',
    path: ({ price }) => `${deployment()}/prices/${price}`,
    entry: { action: 'price.removed', before: { input: '1', output: '2' }, after: null },
  },
  {
    route: 'DELETE /api/deployments/{id}',
    path: deployment,
    entry: { action: 'deployment.removed', before: { model: 'added/model' }, after: null },
  },
  {
    route: 'DELETE /api/models/{id}',
    path: () => '/api/models/added%2Fmodel',
    entry: { action: 'model.removed', before: { tier: 'premium' }, after: null },
  },
  {
    route: 'DELETE /api/providers/{id}',
    path: () => '/api/providers/added',
    entry: { action: 'provider.removed', before: { enabled: true, apiKeyLastFour: 'WXYZ' }, after: null },
  },
  {
    route: 'PATCH /api/organisations/{id}/models',
    path: (ids) => `${organisation(ids)}/models`,
    body: () => ({ disable: ['portico/offline'] }),
    entry: {
      action: 'organisation.updated',
      before: { disabledModels: [] },
      after: { disabledModels: ['portico/offline'] },
    },
  },
  {
    route: 'DELETE /api/organisations/{id}',
    path: organisation,
    entry: {
      action: 'organisation.removed',
      before: { name: 'Acme', apiKey: { prefix: expect.any(String), lastFour: expect.any(String) } },
      after: null,
    },
  },
  {
    route: 'POST /api/secret-key/reencrypt',
    path: () => '/api/secret-key/reencrypt',
    entry: {
      action: 'secret_key.reencrypted',
      before: null,
      after: { reencrypted: 0, unchanged: expect.any(Number), unreadable: 0 },
    },
  },
  {
    route: 'POST /api/ledger/repair',
    path: () => '/api/ledger/repair',
    entry: { action: 'ledger.repaired', before: null, after: { closedHolds: 0 } },
  },
  {
    route: 'POST /api/operator-token/rotate',
    path: () => '/api/operator-token/rotate',
    entry: {
      action: 'operator_token.rotated',
      before: { prefix: expect.stringMatching(/^pto_/), lastFour: expect.any(String) },
      after: { prefix: expect.stringMatching(/^pto_/), lastFour: expect.any(String) },
    },
  },
]
