import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { spaceRoute } from '../spaces/space-route.tsx'
import { readResultSearch, resultsQuery, runsQuery } from './run-queries.ts'
import { candidatesQuery, goldenSettingsQuery, questionsQuery, readOffset, readQuestionSearch } from './queries.ts'

const texts = 'golden-questions'

export const questionsRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'golden-questions',
  validateSearch: readQuestionSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) => context.queryClient.ensureQueryData(questionsQuery(params.spaceId, deps)),
  component: lazyPage(texts, () => import('./questions-page.tsx'), 'QuestionsPage'),
})

export const candidatesRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'golden-questions/candidates',
  validateSearch: ({ offset }: Record<string, unknown>): { offset?: number } => readOffset(offset),
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) =>
    context.queryClient.ensureQueryData(candidatesQuery(params.spaceId, deps.offset)),
  component: lazyPage(texts, () => import('./candidates-page.tsx'), 'CandidatesPage'),
})

export const goldenSettingsRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'golden-questions/settings',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(goldenSettingsQuery(params.spaceId)),
  component: lazyPage(texts, () => import('./settings-page.tsx'), 'GoldenSettingsPage'),
})

export const runsRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'golden-questions/runs',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(runsQuery(params.spaceId)),
  component: lazyPage(texts, () => import('./runs-page.tsx'), 'RunsPage'),
})

export const runRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'golden-questions/runs/$runId',
  validateSearch: readResultSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) =>
    Promise.all([
      context.queryClient.ensureQueryData(runsQuery(params.spaceId)),
      context.queryClient.ensureQueryData(resultsQuery(params.spaceId, params.runId, deps)),
    ]),
  component: lazyPage(texts, () => import('./run-page.tsx'), 'RunPage'),
})

/** Golden questions of a Space. */
export const goldenRoutes = [questionsRoute, candidatesRoute, goldenSettingsRoute, runsRoute, runRoute] as const
