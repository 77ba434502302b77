import { useQuery } from '@tanstack/react-query'
import type { ConsoleOrganisationsBody } from '@contract/console-organisations.ts'
import type { ProvidersView } from '@contract/console-models.ts'
import type { PeopleView } from '@contract/console-people.ts'
import { useTranslation } from 'react-i18next'
import { getJson } from '../../api/client.ts'
import { Checklist, isDismissed } from '../../ui/checklist.tsx'
import { ButtonLink } from '../../ui/link.tsx'

const id = 'operator'

const stepsQuery = {
  queryKey: ['operator', 'first-steps'],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const [providers, organisations, people] = await Promise.all([
      getJson<ProvidersView>('/api/console/providers', { signal }),
      getJson<ConsoleOrganisationsBody>('/api/console/organisations?limit=1', { signal }),
      getJson<PeopleView>('/api/console/people?limit=1', { signal }),
    ])
    return {
      // A server that is only looked for, as Ollama is, has no models.
      hasProvider: providers.items.some(({ format, deployments }) => format !== 'offline' && deployments.callable > 0),
      organisation: organisations.items[0],
      hasOthers: people.people.total > 1,
    }
  },
}

/** What an operator sets up before the first call: a provider, an organisation, and a person who works in it. */
export function OperatorSteps() {
  const { t } = useTranslation('overview')
  const { data } = useQuery({ ...stepsQuery, enabled: !isDismissed(id) })
  if (!data) return null
  const { organisation } = data
  const link = (to: string) => (
    <ButtonLink to={to as '/'} size="compact-sm" variant="light">
      {t('steps.open')}
    </ButtonLink>
  )
  return (
    <Checklist
      id={id}
      title={t('steps.title')}
      texts={{ done: t('steps.done'), open: t('steps.notDone'), dismiss: t('steps.dismiss') }}
      steps={[
        { label: t('steps.provider'), isDone: data.hasProvider, action: link('/operator/providers') },
        { label: t('steps.organisation'), isDone: organisation !== undefined, action: link('/operator/organisations') },
        {
          label: t('steps.invitation'),
          isDone: data.hasOthers,
          action: organisation && link(`/organisations/${organisation.id}/members`),
        },
      ]}
    />
  )
}
