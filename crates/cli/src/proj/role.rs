//! `lynceus proj role`: who may do what to a project's applications, and tokens for programs.

use clap::Subcommand;
use lynceus_object::{Value, value};

use super::Projects;
use crate::api::misuse;
use crate::exit::{Code, Failure, Outcome};
use crate::format::{self, Output, number, text, texts};
use crate::login;
use crate::table::Table;

// Roles of a project.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

// A role of a project.
#[derive(clap::Args)]
struct Role {
    /// The project.
    project: String,
    /// The role.
    role: String,
}

// A line of a policy.
#[derive(clap::Args)]
struct Policy {
    #[command(flatten)]
    role: Role,
    /// What may be done: get, create, update, delete, sync, override, action/…
    #[arg(short, long)]
    action: String,
    /// To what, within the project: a name, or '*'.
    #[arg(short, long)]
    object: String,
    /// Whether it may be done.
    #[arg(short, long, value_parser = ["allow", "deny"], default_value = "allow")]
    permission: String,
    /// To which sort of things.
    #[arg(short, long, default_value = "applications",
        value_parser = ["applications", "applicationsets", "logs", "exec", "clusters", "repositories"])]
    resource: String,
}

#[derive(Subcommand)]
enum Command {
    /// Give a group a role.
    AddGroup {
        #[command(flatten)]
        role: Role,
        /// The group, as the issuer names it.
        group: String,
    },
    /// Take a role from a group.
    RemoveGroup {
        #[command(flatten)]
        role: Role,
        /// The group, as the issuer names it.
        group: String,
    },
    /// Allow or forbid a role something.
    AddPolicy(Policy),
    /// Allow or forbid it no longer.
    RemovePolicy(Policy),
    /// Create a role.
    Create {
        #[command(flatten)]
        role: Role,
        /// What it is for.
        #[arg(long, default_value = "")]
        description: String,
    },
    /// Delete a role, and its tokens.
    Delete(Role),
    /// Show a role.
    Get(Role),
    /// List the roles of a project.
    List {
        /// The project.
        project: String,
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Make a token for a role.
    #[command(visible_alias = "token-create")]
    CreateToken {
        #[command(flatten)]
        role: Role,
        /// For how long it counts: 12h, 7d; without it, for ever.
        #[arg(short, long, value_name = "DURATION", default_value = "0s")]
        expires_in: String,
        /// What it is called; without it, anything.
        #[arg(short, long, default_value = "")]
        id: String,
        /// Print the token alone, for scripts.
        #[arg(short, long)]
        token_only: bool,
    },
    /// Take a token back.
    #[command(visible_aliases = ["token-delete", "remove-token"])]
    DeleteToken {
        #[command(flatten)]
        role: Role,
        /// When it was made, in seconds since 1970.
        issued_at: i64,
    },
    /// List the tokens of a role.
    #[command(visible_aliases = ["list-token", "token-list"])]
    ListTokens {
        #[command(flatten)]
        role: Role,
        /// Print times in seconds since 1970, for delete-token.
        #[arg(short, long)]
        unixtime: bool,
    },
}

pub(super) async fn run(projects: &Projects, arguments: Arguments) -> Outcome {
    match arguments.command {
        Command::AddGroup { role, group } => add_group(projects, &role, &group).await,
        Command::RemoveGroup { role, group } => remove_group(projects, &role, &group).await,
        Command::AddPolicy(policy) => add_policy(projects, &policy).await,
        Command::RemovePolicy(policy) => remove_policy(projects, &policy).await,
        Command::Create { role, description } => create(projects, &role, &description).await,
        Command::Delete(role) => delete(projects, &role).await,
        Command::Get(role) => get(projects, &role).await,
        Command::List { project, output } => list(projects, &project, output).await,
        Command::CreateToken { role, expires_in, id, token_only } => {
            create_token(projects, &role, (&expires_in, &id), token_only).await
        }
        Command::DeleteToken { role, issued_at } => delete_token(projects, &role, issued_at).await,
        Command::ListTokens { role, unixtime } => list_tokens(projects, &role, unixtime).await,
    }
}

/// A project, and where a role is among its own.
async fn found(projects: &Projects, role: &Role) -> Outcome<(Value, usize)> {
    let project = projects.get(&role.project).await?;
    let roles = project.items_at(&["spec", "roles"]);
    let at = roles.iter().position(|known| text(known, &["name"]) == role.role);
    let missing = || {
        Failure::new(
            Code::NotFound,
            format!("role '{}' does not exist in project '{}'", role.role, role.project),
        )
        .hint(format!("see which there are:\nlynceus proj role list {}", role.project))
    };
    at.map(|at| (project.clone(), at)).ok_or_else(missing)
}

/// Changes a list of a role.
fn change(project: &mut Value, at: usize, field: &str, change: impl FnOnce(&mut Vec<String>)) {
    let mut roles = project.items_at(&["spec", "roles"]).to_vec();
    let mut list = texts(&roles[at], &[field]);
    change(&mut list);
    roles[at].set(&[field], list.into_iter().map(Value::from).collect::<Value>());
    project.set(&["spec", "roles"], Value::from(roles));
}

async fn add_group(projects: &Projects, role: &Role, group: &str) -> Outcome {
    let (mut project, at) = found(projects, role).await?;
    if texts(&project.items_at(&["spec", "roles"])[at], &["groups"]).iter().any(|known| known == group) {
        println!("Group '{group}' already present in role '{}'", role.role);
        return Ok(());
    }
    change(&mut project, at, "groups", |groups| groups.push(group.to_owned()));
    projects.update(project).await?;
    println!("Group '{group}' added to role '{}'", role.role);
    Ok(())
}

async fn remove_group(projects: &Projects, role: &Role, group: &str) -> Outcome {
    let (mut project, at) = found(projects, role).await?;
    if !texts(&project.items_at(&["spec", "roles"])[at], &["groups"]).iter().any(|known| known == group) {
        println!("Group '{group}' not present in role '{}'", role.role);
        return Ok(());
    }
    let question = format!("Are you sure you want to remove '{group}' group? [y/n] ");
    if !projects.connection.confirmed(&question)? {
        println!("The command to remove group '{group}' from role '{}' was cancelled.", role.role);
        return Ok(());
    }
    change(&mut project, at, "groups", |groups| groups.retain(|known| known != group));
    projects.update(project).await?;
    println!("Group '{group}' removed from role '{}'", role.role);
    Ok(())
}

impl Policy {
    fn line(&self) -> String {
        let Role { project, role } = &self.role;
        let Policy { action, object, permission, resource, .. } = self;
        format!("p, proj:{project}:{role}, {resource}, {action}, {project}/{object}, {permission}")
    }
}

async fn add_policy(projects: &Projects, policy: &Policy) -> Outcome {
    let (mut project, at) = found(projects, &policy.role).await?;
    change(&mut project, at, "policies", |policies| policies.push(policy.line()));
    projects.update(project).await
}

async fn remove_policy(projects: &Projects, policy: &Policy) -> Outcome {
    let (mut project, at) = found(projects, &policy.role).await?;
    let line = policy.line();
    let is_there = texts(&project.items_at(&["spec", "roles"])[at], &["policies"]).contains(&line);
    if !is_there {
        return Ok(());
    }
    if !projects.connection.confirmed(&format!("Are you sure you want to delete '{line}' policy? [y/n] "))? {
        println!("The command to delete policy '{line}' was cancelled.");
        return Ok(());
    }
    change(&mut project, at, "policies", |policies| {
        if let Some(at) = policies.iter().position(|known| *known == line) {
            policies.remove(at);
        }
    });
    projects.update(project).await
}

async fn create(projects: &Projects, role: &Role, description: &str) -> Outcome {
    let mut project = projects.get(&role.project).await?;
    let mut roles = project.items_at(&["spec", "roles"]).to_vec();
    if roles.iter().any(|known| text(known, &["name"]) == role.role) {
        println!("Role '{}' already exists", role.role);
        return Ok(());
    }
    roles.push(value!({"name": role.role.as_str(), "description": description}));
    project.set(&["spec", "roles"], Value::from(roles));
    projects.update(project).await?;
    println!("Role '{}' created", role.role);
    Ok(())
}

async fn delete(projects: &Projects, role: &Role) -> Outcome {
    let mut project = projects.get(&role.project).await?;
    let mut roles = project.items_at(&["spec", "roles"]).to_vec();
    let Some(at) = roles.iter().position(|known| text(known, &["name"]) == role.role) else {
        println!("Role '{}' does not exist in project", role.role);
        return Ok(());
    };
    if !projects
        .connection
        .confirmed(&format!("Are you sure you want to delete '{}' role? [y/n] ", role.role))?
    {
        println!("The command to delete role '{}' was cancelled.", role.role);
        return Ok(());
    }
    roles.remove(at);
    project.set(&["spec", "roles"], Value::from(roles));
    projects.update(project).await?;
    println!("Role '{}' deleted", role.role);
    Ok(())
}

async fn get(projects: &Projects, role: &Role) -> Outcome {
    let (project, at) = found(projects, role).await?;
    let own = &project.items_at(&["spec", "roles"])[at];
    println!("{:<15}{}\n{:<15}{}", "Role Name:", role.role, "Description:", text(own, &["description"]));
    println!("Policies:\n{}", policies(&project).join("\n"));
    println!("Groups:");
    let groups = texts(own, &["groups"]);
    match groups.is_empty() {
        true => println!("<none>"),
        false => groups.iter().for_each(|group| println!("  - {group}")),
    }
    println!("JWT Tokens:");
    let mut table = Table::new(&["ID", "ISSUED-AT", "EXPIRES-AT"]);
    for token in tokens(&project, &role.role) {
        let (issued, expires) = (number(token, &["iat"]), number(token, &["exp"]));
        let expires = if expires > 0 { format::seconds(expires) } else { "<none>".to_owned() };
        table.row([issued.to_string(), format::seconds(issued), expires]);
    }
    print!("{table}");
    Ok(())
}

/// Every line that the roles of a project add to the policies. Each may see the project itself.
fn policies(project: &Value) -> Vec<String> {
    let name = text(project, &["metadata", "name"]);
    let mut lines = Vec::new();
    for role in project.items_at(&["spec", "roles"]) {
        let own = text(role, &["name"]);
        lines.push(format!("p, proj:{name}:{own}, projects, get, {name}, allow"));
        lines.extend(texts(role, &["policies"]));
        lines.extend(texts(role, &["groups"]).iter().map(|group| format!("g, {group}, proj:{name}:{own}")));
    }
    lines
}

fn tokens<'p>(project: &'p Value, role: &str) -> &'p [Value] {
    project.items_at(&["status", "jwtTokensByRole", role, "items"])
}

async fn list(projects: &Projects, name: &str, output: Output) -> Outcome {
    let project = projects.get(name).await?;
    let roles = project.items_at(&["spec", "roles"]);
    let names = roles.iter().map(|role| text(role, &["name"]).to_owned());
    format::print(output, &Value::from(roles.to_vec()), names, || {
        let mut table = Table::new(&["ROLE-NAME", "DESCRIPTION"]);
        for role in roles {
            table.row([text(role, &["name"]).to_owned(), text(role, &["description"]).to_owned()]);
        }
        table.to_string()
    })
}

async fn create_token(
    projects: &Projects,
    role: &Role,
    (expires_in, id): (&str, &str),
    only: bool,
) -> Outcome {
    let seconds = format::span(expires_in)
        .ok_or_else(|| misuse(format!("--expires-in {expires_in:?} is no duration such as 12h or 7d")))?;
    let message = value!({"project": role.project.as_str(), "role": role.role.as_str(), "expiresIn": seconds, "id": id});
    let answer = projects.api.call("cannot make a token", "ProjectService.CreateToken", message).await?;
    let token = text(&answer, &["token"]);
    if only {
        println!("{token}");
        return Ok(());
    }
    let claims = login::claims(token);
    println!("Create token succeeded for {}.", text(&claims, &["sub"]));
    println!("  ID: {}", text(&claims, &["jti"]));
    println!("  Issued At: {}", time(number(&claims, &["iat"])));
    println!("  Expires At: {}", time(number(&claims, &["exp"])));
    println!("  Token: {token}");
    Ok(())
}

fn time(at: i64) -> String {
    if at > 0 { format::seconds(at) } else { "Never".to_owned() }
}

async fn delete_token(projects: &Projects, role: &Role, issued: i64) -> Outcome {
    let question = format!("Are you sure you want to delete '{issued}' project token? [y/n] ");
    if !projects.connection.confirmed(&question)? {
        println!("The command to delete project token '{issued}' was cancelled.");
        return Ok(());
    }
    let message = value!({"project": role.project.as_str(), "role": role.role.as_str(), "iat": issued});
    projects.api.call("cannot delete the token", "ProjectService.DeleteToken", message).await.map(drop)
}

async fn list_tokens(projects: &Projects, role: &Role, unix: bool) -> Outcome {
    let (project, _) = found(projects, role).await?;
    let tokens = tokens(&project, &role.role);
    if tokens.is_empty() {
        println!("No tokens for {}.{}", role.project, role.role);
        return Ok(());
    }
    let mut table = Table::new(&["ID", "ISSUED AT", "EXPIRES AT"]);
    for token in tokens {
        let shown = |at: i64| if unix { at.to_string() } else { time(at) };
        let (issued, expires) = (number(token, &["iat"]), number(token, &["exp"]));
        table.row([text(token, &["id"]).to_owned(), shown(issued), shown(expires)]);
    }
    print!("{table}");
    Ok(())
}
