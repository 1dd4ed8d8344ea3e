//! What to try with the demo, with commands that can be pasted.

use std::path::Path;

/// What the commands need to be told.
pub(crate) struct Tools<'a> {
    /// The repository.
    pub(crate) repository: &'a Path,
    /// The kubeconfig, for `kubectl`.
    pub(crate) kubeconfig: &'a Path,
    /// What `lynceus` has to be told to find the cluster, with a blank before it; nothing if it finds it by itself.
    pub(crate) home: &'a str,
}

/// Things to try: while there is trouble to find it and mend it, later what one does every day.
pub(crate) fn next_steps(tools: &Tools<'_>, is_all_fine: bool) -> String {
    // As it was called: `cargo run` does not put it where a shell would find it.
    let lynceus = std::env::args().next().unwrap_or_else(|| "lynceus".to_owned());
    match is_all_fine {
        true => everyday(tools, &lynceus),
        false => healing(tools, &lynceus),
    }
}

fn healing(Tools { repository, home, .. }: &Tools<'_>, lynceus: &str) -> String {
    let repository = repository.display();
    format!(
        "\ntry this next\n\
         \x20 1. ask what is wrong, and why\n\
         \x20      {lynceus} doctor{home}\n\
         \x20 2. have the first of it mended: the fix is tried in a rehearsal, then written into the repository\n\
         \x20      {lynceus} fix{home} LYN0401/vault/Deployment/vault --tree {repository}\n\
         \x20      git -C {repository} commit -qam 'Let Vault onto its machines'\n\
         \x20 3. watch it heal, and ask for the next\n\
         \x20      {lynceus} app{home} wait vault payments invoices\n\
         \x20      {lynceus} doctor{home}\n"
    )
}

fn everyday(Tools { repository, kubeconfig, home }: &Tools<'_>, lynceus: &str) -> String {
    let (repository, kubeconfig) = (repository.display(), kubeconfig.display());
    format!(
        "\ntry this next\n\
         \x20 1. change something in Git and watch it arrive\n\
         \x20      (cd {repository} && sed -i 's/replicas: 1/replicas: 3/' environments/dev/catalog.yaml && \
         git commit -qam 'Three catalogs')\n\
         \x20      kubectl --kubeconfig {kubeconfig} -n shop-dev get deployment catalog -w\n\
         \x20 2. break something and watch it heal\n\
         \x20      kubectl --kubeconfig {kubeconfig} -n shop-dev delete deployment catalog\n\
         \x20 3. look at it\n\
         \x20      {lynceus} app{home} list\n\
         \x20      {lynceus} app{home} get shop-dev\n\
         \x20      {lynceus} app{home} tree shop-dev\n\
         \x20 4. take most previews away, and see that none goes before you say so\n\
         \x20      (cd {repository} && git rm -qr previews/basket previews/gifts previews/wishlist && \
         git commit -qm 'One preview is enough')\n\
         \x20      {lynceus} appset{home} preview previews\n"
    )
}
