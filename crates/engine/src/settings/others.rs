//! Settings that belong to parts of Argo CD that are not here, or that mean nothing here. Nobody is told of them: an
//! installation may have them for an Argo CD beside us, or from before.

use super::keys::ConfigMap;

/// Whether a setting is one of these.
pub(super) fn is_known(map: ConfigMap, name: &str) -> bool {
    names(map).any(|known| match known.split_once('<') {
        Some((family, _)) => name.len() > family.len() && name.starts_with(family),
        None => known == name,
    })
}

/// All of their names. What stands in angle brackets is the user's.
pub(super) fn names(map: ConfigMap) -> impl Iterator<Item = &'static str> {
    let elsewhere = match map {
        ConfigMap::Settings => SETTINGS,
        ConfigMap::Parameters => PARAMETERS,
    };
    let unfollowed = UNFOLLOWED.iter().filter(move |group| group.map == map).map(|group| group.names);
    unfollowed.chain([elsewhere]).flat_map(str::split_whitespace)
}

/// Settings of Argo CD's controller and repo-server that are not followed.
pub(super) struct Unfollowed {
    /// Where they stand.
    pub(super) map: ConfigMap,
    /// Their names.
    pub(super) names: &'static str,
    /// Why, for the documentation.
    pub(super) why: &'static str,
}

/// Settings that Argo CD had and has no more, with what is written instead.
pub(super) const REMOVED: &[(&str, &str)] = &[
    (
        "repositories",
        "describe each repository in a Secret with the label argocd.argoproj.io/secret-type: repository",
    ),
    (
        "repository.credentials",
        "describe them in a Secret with the label argocd.argoproj.io/secret-type: repo-creds",
    ),
    (
        "helm.repositories",
        "describe each repository in a Secret with the label argocd.argoproj.io/secret-type: repository",
    ),
    ("configManagementPlugins", "run each plugin as a sidecar; docs/plugins.md says how it is found"),
];

/// All of them, with the reason.
pub(super) const UNFOLLOWED: &[Unfollowed] = &[
    Unfollowed {
        map: ConfigMap::Settings,
        names: "
            kustomize.buildOptions.<version> kustomize.path kustomize.path.<version> kustomize.version
            kustomize.version.<version>
        ",
        why: "Kustomize is built in, in one version. Argo CD reads the build options of a version and does not use them.",
    },
    Unfollowed {
        map: ConfigMap::Settings,
        names: "resource.customLabels",
        why: "Labels of objects are not shown in the tree of resources.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "controller.self.heal.backoff.cooldown.seconds",
        why: "Without effect in Argo CD too, since 3.3.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "
            controller.grpc.enable.txt.service.config controller.repo.server.ca.cert.path
            controller.repo.server.client.cert.key.path controller.repo.server.client.cert.path
            controller.repo.server.plaintext controller.repo.server.strict.tls repo.server
            reposerver.client.ca.path reposerver.disable.tls reposerver.grpc.enable.txt.service.config
            reposerver.grpc.max.size reposerver.listen.address reposerver.metrics.listen.address
            reposerver.tls.ciphers reposerver.tls.maxversion reposerver.tls.minversion
        ",
        why: "Sources are read and rendered in the process of the controller: there is no server to talk to.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "
            controller.app.state.cache.expiration controller.default.cache.expiration
            reposerver.default.cache.expiration reposerver.repo.cache.expiration
            reposerver.revision.cache.lock.timeout redis.compression redis.db redis.key.prefix
            redis.sentinel.hosts redis.sentinel.master redis.server
        ",
        why: "There is no Redis. What is remembered is remembered by content and within bounds, so that it never grows old.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "controller.cluster.cache.batch.events.processing controller.cluster.cache.events.processing.interval",
        why: "Changes of one application that come together are one reason to look at it, without a setting.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "controller.k8s.client.burst controller.k8s.client.qps",
        why: "Read from the environment at the start, as `ARGOCD_K8S_CLIENT_BURST` and `ARGOCD_K8S_CLIENT_QPS`.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "
            controller.k8s.client.max.idle.connections controller.k8s.tcp.idle.timeout
            controller.k8s.tcp.keepalive controller.k8s.tcp.timeout controller.k8s.tls.handshake.timeout
            controller.k8sclient.retry.base.backoff controller.k8sclient.retry.max
        ",
        why: "The times of connections are fixed. An API server that asks for a pause gets it, and what failed for a moment is tried again.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "controller.ignore.normalizer.jq.timeout",
        why: "jq is counted in steps and bytes, not timed ([comparing.md](comparing.md)).",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "controller.sharding.algorithm",
        why: "Replicas share the clusters by Leases ([clusters.md](clusters.md)).",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "
            controller.log.format controller.log.level log.format.timestamp reposerver.log.format
            reposerver.log.level
        ",
        why: "What is logged is decided where the program is started, by `-v` and `RUST_LOG`.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "controller.metrics.cache.expiration",
        why: "Series are bounded in number and are not forgotten ([metrics.md](metrics.md)).",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "controller.profile.enabled reposerver.profile.enabled",
        why: "There is no profiler to ask over the network.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "otlp.address otlp.attrs otlp.headers otlp.insecure",
        why: "Read at the start, as flags or from the environment ([metrics.md](metrics.md)).",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "otlp.sample.ratio",
        why: "Every trace is sent, up to a bound.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "applicationsetcontroller.enable.github.api.metrics",
        why: "Read at the start, as a flag or from the environment ([metrics.md](metrics.md)).",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "reposerver.allow.oob.symlinks",
        why: "A link that leads out of its repository is never followed, and is an error only where it is read.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "reposerver.enable.builtin.git.config reposerver.git.lsremote.parallelism.limit",
        why: "No git is run, and what a server has listed is shared by all applications that ask within half a minute.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "
            reposerver.disable.helm.manifest.max.extracted.size
            reposerver.disable.oci.manifest.max.extracted.size reposerver.helm.manifest.max.extracted.size
            reposerver.helm.user.agent reposerver.oci.layer.media.types
            reposerver.oci.manifest.max.extracted.size
        ",
        why: "Archives are held in memory, so that their bounds are fixed; requests name Lynceus, and layers are of the types that Argo CD takes by itself.",
    },
    Unfollowed {
        map: ConfigMap::Parameters,
        names: "reposerver.plugin.tar.exclusions reposerver.plugin.use.manifest.generate.paths",
        why: "A plugin gets all files of a revision, within bounds ([plugins.md](plugins.md)).",
    },
];

/// Those of `argocd-cm` for parts that are not here.
const SETTINGS: &str = "
    accounts.<name> additionalUrls admin.enabled application.allowedNodeLabels application.links
    application.sync.requireOverridePrivilegeForRevisionSync commit.author.email commit.author.name
    dex.auth.connectorId dex.config exec.enabled exec.shells extension.config extension.config.<name>
    ga.anonymizeusers ga.trackingid help.chatText help.chatUrl help.download help.download.<platform>
    oidc.config oidc.tls.insecure.skip.verify passwordPattern project.links resource.links
    server.maxPodLogsToRender server.rbac.disableApplicationFineGrainedRBACInheritance
    server.rbac.rollback.enforce.enable server.secretkey sourceHydrator.commitMessageTemplate
    sourceHydrator.readmeMessageTemplate statusbadge.enabled statusbadge.url tls.crt tls.key ui.bannercontent
    ui.bannerpermanent ui.bannerposition ui.bannerurl ui.cssurl ui.loginButtonText ui.view.resources.disabled
    url users.anonymous.enabled users.session.duration webhook.azuredevops.password
    webhook.azuredevops.username webhook.bitbucket.uuid webhook.bitbucketserver.secret webhook.github.secret
    webhook.gitlab.secret webhook.gogs.secret webhook.harbor.secret webhook.maxPayloadSizeMB
    webhook.refresh.jitter webhook.refresh.jitter.threshold
";

/// Those of `argocd-cmd-params-cm`.
const PARAMETERS: &str = "
    applicationsetcontroller.debug applicationsetcontroller.enable.git.submodule
    applicationsetcontroller.enable.leader.election applicationsetcontroller.enable.new.git.file.globbing
    applicationsetcontroller.grpc.enable.txt.service.config applicationsetcontroller.k8s.client.burst
    applicationsetcontroller.k8s.client.max.idle.connections applicationsetcontroller.k8s.client.qps
    applicationsetcontroller.k8s.tcp.idle.timeout applicationsetcontroller.k8s.tcp.keepalive
    applicationsetcontroller.k8s.tcp.timeout applicationsetcontroller.k8s.tls.handshake.timeout
    applicationsetcontroller.log.format applicationsetcontroller.log.level
    applicationsetcontroller.profile.enabled applicationsetcontroller.repo.server.ca.cert.path
    applicationsetcontroller.repo.server.client.cert.key.path
    applicationsetcontroller.repo.server.client.cert.path applicationsetcontroller.repo.server.plaintext
    applicationsetcontroller.repo.server.strict.tls applicationsetcontroller.repo.server.timeout.seconds
    applicationsetcontroller.webhook.parallelism.limit
    commit.server commitserver.grpc.enable.txt.service.config commitserver.listen.address
    commitserver.log.format commitserver.log.level commitserver.metrics.listen.address
    controller.hydration.processors dexserver.connector.failure.continue dexserver.disable.tls
    dexserver.log.format dexserver.log.level hydrator.enabled notificationscontroller.log.format
    notificationscontroller.log.level notificationscontroller.processors.count
    notificationscontroller.repo.server.ca.cert.path notificationscontroller.repo.server.client.cert.key.path
    notificationscontroller.repo.server.client.cert.path notificationscontroller.repo.server.plaintext
    reposerver.include.hidden.directories
    reposerver.streamed.manifest.max.extracted.size reposerver.streamed.manifest.max.tar.size
    server.api.content.types server.app.state.cache.expiration server.basehref
    server.connection.status.cache.expiration server.content.security.policy server.default.cache.expiration
    server.dex.server server.dex.server.plaintext server.dex.server.strict.tls server.disable.auth
    server.disable.swagger.ui server.enable.gzip server.enable.proxy.extension server.glob.cache.size
    server.grpc.enable.txt.service.config server.http.cookie.maxnumber server.insecure server.k8s.client.burst
    server.k8s.client.max.idle.connections server.k8s.client.qps server.k8s.tcp.idle.timeout
    server.k8s.tcp.keepalive server.k8s.tcp.timeout server.k8s.tls.handshake.timeout
    server.k8sclient.retry.base.backoff server.k8sclient.retry.max server.listen.address server.log.format
    server.log.level server.metrics.listen.address server.oidc.cache.expiration server.profile.enabled
    server.repo.server.ca.cert.path server.repo.server.client.cert.key.path
    server.repo.server.client.cert.path server.repo.server.plaintext server.repo.server.strict.tls
    server.repo.server.timeout.seconds server.rootpath server.staticassets server.sync.replace.allowed
    server.tls.ciphers server.tls.maxversion server.tls.minversion server.webhook.parallelism.limit
    server.webhook.refresh.workers server.x.frame.options
";
