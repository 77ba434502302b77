import { Alert, Stack } from '@mantine/core'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { patchJson } from '../../api/client.ts'
import { useRights } from '../../app/session.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { SaveBar } from '../../ui/save-bar.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useSpace } from '../spaces/queries.ts'
import { GoldenFrame } from './golden-frame.tsx'
import styles from './golden.module.css'
import { goldenKey, goldenPath, goldenSettingsQuery } from './queries.ts'
import { goldenSettingsRoute } from './routes.tsx'
import { changeOf, draftOf, type GateMeasure, type SettingsDraft } from './settings-draft.ts'
import { GateFields, labelKeys, PassingFields, RunFields } from './settings-fields.tsx'

const fields = ['schedule', 'maximumCostUsd', 'agentic', 'filter', 'passing', 'gate']

/** Schedule and limits of runs, when a question passes, and the gate before publishing. */
export function GoldenSettingsPage() {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const { organisationId, spaceId } = goldenSettingsRoute.useParams()
  const { isAdministrator } = useRights(organisationId)
  const space = useSpace(spaceId)
  const { data: settings } = useSuspenseQuery(goldenSettingsQuery(spaceId))
  const queryClient = useQueryClient()
  const { errors, attempt } = useFieldErrors(fields)
  const form = useSharedDraft({
    view: settings,
    draftOf,
    load: () => queryClient.fetchQuery({ ...goldenSettingsQuery(spaceId), staleTime: 0 }),
    send: (wanted, base) => patchJson(`${goldenPath(spaceId)}/settings`, changeOf(wanted), ifMatch(base)),
    labelOf: (field) => t(labelKeys[field]),
    textOf: (field, value) =>
      field === 'every'
        ? t(`settings.every.${value as SettingsDraft['every']}`)
        : field === 'passing' || field === 'gate'
          ? Object.entries(value as Record<string, number | ''>)
              .filter(([, share]) => share !== '')
              .map(([name, share]) => `${t(`measure.${name as GateMeasure}`)}: ${share} %`)
              .join('\n')
          : typeof value === 'object'
            ? value && JSON.stringify(value)
            : value,
  })
  const save = useChange(() => form.save(), {
    stale: goldenKey(spaceId),
    done: () => t('settings.saved'),
    hasErrorPlace: true,
  })
  const submit = () => void attempt(() => save.mutateAsync())
  const given = { draft: form.draft, change: form.set, errors }
  return (
    <GoldenFrame>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <fieldset disabled={!isAdministrator} className={styles['fields']}>
          <Stack gap="xl" maw={820}>
            {!isAdministrator && <Alert color="gray">{t('settings.role')}</Alert>}
            <RunFields {...given} requiredFilter={space.settings.requiredFilter} />
            {settings.nextRunAt !== null && (
              <Dimmed>{t('settings.nextRun', { time: format.dateTime(settings.nextRunAt) })}</Dimmed>
            )}
            <PassingFields {...given} />
            <GateFields {...given} />
            <SaveBar form={form} isSaving={save.isPending} onSave={submit} />
          </Stack>
        </fieldset>
      </form>
    </GoldenFrame>
  )
}
