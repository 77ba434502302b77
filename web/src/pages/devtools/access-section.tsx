import type { DeveloperToolsView, GatewayRequirement } from '@contract/console-developer-tools.ts'
import type { OrganisationBody } from '@contract/operator.ts'
import { Badge, Group, Stack, Switch, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { getJson, putJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { changeOneField } from '../../ui/conflict/change-one-field.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { notifyError } from '../../ui/notify.ts'
import { Section } from '../../ui/section.tsx'
import { developerToolsQuery } from './routes.tsx'

type Organisation = DeveloperToolsView['organisation']

/** What the gateway requires of the organisation, and the switch of the one thing that an administrator decides: the opt-in. */
export function AccessSection({ view: { organisation, missing } }: { view: DeveloperToolsView }) {
  const { t } = useTranslation('devtools')
  const isOpen = missing.every((requirement) => requirement === 'api_key')
  return (
    <Section
      title={t('access.title')}
      description={t('access.description')}
      actions={
        <Badge variant="light" color={isOpen ? 'teal' : 'gray'}>
          {isOpen ? t('access.open') : t('access.closed')}
        </Badge>
      }
    >
      <Stack gap="xs">
        <Requirement name="plan" missing={missing} organisation={organisation} />
        <Requirement name="enablement" missing={missing} organisation={organisation} />
        <Requirement name="opt_in" missing={missing} organisation={organisation}>
          <OptInSwitch organisation={organisation} />
        </Requirement>
        <Requirement name="subscription" missing={missing} organisation={organisation} />
        <Requirement name="budget" missing={missing} organisation={organisation} />
      </Stack>
    </Section>
  )
}

function Requirement(props: {
  name: Exclude<GatewayRequirement, 'api_key'>
  missing: GatewayRequirement[]
  organisation: Organisation
  children?: ReactNode
}) {
  const { name, missing, organisation, children } = props
  const { t } = useTranslation('devtools')
  const format = useFormat()
  const isMissing = missing.includes(name)
  const Icon = isMissing ? IconCircleX : IconCircleCheck
  const color = isMissing ? 'var(--mantine-color-orange-text)' : 'var(--mantine-color-teal-text)'
  const values = {
    plan: organisation.plan,
    markup: format.percent(Number(organisation.markupPercent) / 100),
  }
  return (
    <Group wrap="nowrap" align="flex-start" gap="sm">
      <Icon
        size={20}
        color={color}
        role="img"
        aria-label={isMissing ? t('access.missing') : t('access.fulfilled')}
        style={{ flex: 'none', marginTop: 1 }}
      />
      <Stack gap={4} maw={720}>
        <Text size="sm" fw={500}>
          {t(`access.${name}.title`)}
        </Text>
        {name === 'opt_in' || isMissing ? <Dimmed>{t(`access.${name}.text`, values)}</Dimmed> : null}
        {children}
      </Stack>
    </Group>
  )
}

function OptInSwitch({ organisation }: { organisation: Organisation }) {
  const { id, name, gatewayOptIn } = organisation
  const { t } = useTranslation('devtools')
  const queryClient = useQueryClient()
  const { mutate, isPending, variables } = useMutation({
    mutationFn: (optIn: boolean) =>
      changeOneField<{ version: string }>({
        view: organisation,
        send: (base) => putJson(`/api/organisations/${id}/opt-in`, { optIn }, ifMatch(base)),
        load: () => getJson<OrganisationBody>(`/api/organisations/${id}`),
      }),
    onSuccess: () => queryClient.invalidateQueries(developerToolsQuery(id)),
    onError: notifyError,
  })
  const change = (optIn: boolean) => {
    if (optIn) return mutate(true)
    openConfirm({
      title: t('access.optOutTitle', { name }),
      text: t('access.optOutText'),
      confirm: t('access.optOut'),
      onConfirm: () => mutate(false),
    })
  }
  return (
    <Switch
      label={t('access.optInSwitch')}
      checked={isPending ? variables : gatewayOptIn}
      disabled={isPending}
      onChange={(event) => change(event.currentTarget.checked)}
    />
  )
}
