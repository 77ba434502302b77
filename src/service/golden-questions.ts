import type { Database } from '../database/index.ts'
import { createDocumentNames } from '../documents/index.ts'
import {
  createGoldenQuestions,
  createGoldenQuestionStore,
  createGoldenSettings,
  createGoldenSettingsStore,
} from '../golden-questions/index.ts'
import type { InsightService } from '../insights/index.ts'
import type { Organisations } from '../organisations/index.ts'
import type { PartContext } from './foundation.ts'

interface GoldenQuestionsDependencies extends PartContext {
  control: Database
  corpus: Database
  organisations: Pick<Organisations, 'get'>
  insights: InsightService
}

/** Golden questions of Spaces. */
export function openGoldenQuestions({ control, corpus, organisations, insights, clock }: GoldenQuestionsDependencies) {
  const goldenQuestions = createGoldenQuestions({
    store: createGoldenQuestionStore(control),
    documentNames: createDocumentNames(corpus),
    insights,
    clock,
  })
  const goldenSettings = createGoldenSettings({
    store: createGoldenSettingsStore(control),
    timeZoneOf: ({ organisationId }) => organisations.get(organisationId)?.timeZone ?? 'UTC',
    clock,
  })
  return { goldenQuestions, goldenSettings }
}
