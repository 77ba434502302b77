import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { withTexts } from '../../i18n/translations.ts'
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
  component: lazyRouteComponent(() => withTexts(texts, import('./questions-page.tsx')), 'QuestionsPage'),
})

export const candidatesRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'golden-questions/candidates',
  validateSearch: ({ offset }: Record<string, unknown>): { offset?: number } => readOffset(offset),
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) =>
    context.queryClient.ensureQueryData(candidatesQuery(params.spaceId, deps.offset)),
  component: lazyRouteComponent(() => withTexts(texts, import('./candidates-page.tsx')), 'CandidatesPage'),
})

export const goldenSettingsRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'golden-questions/settings',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(goldenSettingsQuery(params.spaceId)),
  component: lazyRouteComponent(() => withTexts(texts, import('./settings-page.tsx')), 'GoldenSettingsPage'),
})

export const runsRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'golden-questions/runs',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(runsQuery(params.spaceId)),
  component: lazyRouteComponent(() => withTexts(texts, import('./runs-page.tsx')), 'RunsPage'),
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
  component: lazyRouteComponent(() => withTexts(texts, import('./run-page.tsx')), 'RunPage'),
})

/** Golden questions of a Space. */
export const goldenRoutes = [questionsRoute, candidatesRoute, goldenSettingsRoute, runsRoute, runRoute] as const
